// Twins are healthy programs around foreign modules: databases and a server under load. They are a
// module of their own, so that nothing else depends on those.
package main

import (
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.etcd.io/bbolt"
)

var twins = map[string]func(dir string) error{"bbolt": bolt, "badger": badgerDB, "nats": natsServer}

func main() {
	if len(os.Args) < 2 || twins[os.Args[1]] == nil {
		log.Fatal("give one of bbolt, badger, nats")
	}
	dir, err := os.MkdirTemp("", "cpprof-twin-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := twins[os.Args[1]](dir); err != nil {
		log.Print(err)
		return
	}
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
}

// some is a time of up to a limit.
func some(limit time.Duration) time.Duration { return rand.N(limit) }

// again calls a function in a number of goroutines, at random times.
func again(n int, pause time.Duration, f func(key []byte)) {
	for range n {
		go func() {
			for {
				f(fmt.Appendf(nil, "key %d", rand.IntN(1000)))
				time.Sleep(some(pause))
			}
		}()
	}
}

var value = make([]byte, 500)

// bolt has batches, updates and long scans.
func bolt(dir string) error {
	db, err := bbolt.Open(filepath.Join(dir, "db"), 0o600, nil)
	if err != nil {
		return err
	}
	name := []byte("bucket")
	put := func(key []byte) func(tx *bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists(name)
			if err != nil {
				return err
			}
			return b.Put(key, value)
		}
	}
	if err := db.Update(put([]byte("first"))); err != nil {
		return err
	}
	again(8, 5*time.Millisecond, func(key []byte) { db.Batch(put(key)) })
	again(4, 20*time.Millisecond, func(key []byte) { db.Update(put(key)) })
	again(2, 100*time.Millisecond, func([]byte) {
		db.View(func(tx *bbolt.Tx) error {
			return tx.Bucket(name).ForEach(func(k, v []byte) error { time.Sleep(some(100 * time.Microsecond)); return nil })
		})
	})
	return nil
}

// badgerDB has updates, scans, and collects its garbage.
func badgerDB(dir string) error {
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithValueThreshold(100).WithValueLogFileSize(1 << 20).WithMemTableSize(8 << 20))
	if err != nil {
		return err
	}
	again(8, 5*time.Millisecond, func(key []byte) {
		db.Update(func(tx *badger.Txn) error { return tx.Set(key, value) })
	})
	again(2, 100*time.Millisecond, func([]byte) {
		db.View(func(tx *badger.Txn) error {
			it := tx.NewIterator(badger.DefaultIteratorOptions)
			defer it.Close()
			for it.Rewind(); it.Valid(); it.Next() {
			}
			return nil
		})
	})
	again(1, time.Second, func([]byte) { db.RunValueLogGC(0.5) })
	return nil
}

// natsServer answers requests. Some of its subscribers leave.
func natsServer(string) error {
	s, err := server.NewServer(&server.Options{Port: -1, NoSigs: true, NoLog: true})
	if err != nil {
		return err
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return fmt.Errorf("the server is not ready")
	}
	c, err := nats.Connect(s.ClientURL())
	if err != nil {
		return err
	}
	if _, err := c.Subscribe("ask", func(m *nats.Msg) { m.Respond(value) }); err != nil {
		return err
	}
	again(8, 10*time.Millisecond, func(key []byte) { c.Request("ask", key, time.Second) })
	again(4, 200*time.Millisecond, func([]byte) {
		other, err := nats.Connect(s.ClientURL())
		if err != nil {
			return
		}
		defer other.Close()
		if sub, err := other.SubscribeSync("news"); err == nil {
			other.Publish("news", value)
			sub.NextMsg(time.Second)
		}
	})
	return nil
}
