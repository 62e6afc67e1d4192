package main

import (
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

var (
	db    *badger.DB
	keys  atomic.Int64
	value = make([]byte, 32<<10)
)

func main() {
	settings := badger.DefaultOptions(filepath.Join(os.Getenv("WORK_DIR"), "db")).
		WithLoggingLevel(badger.ERROR).WithMemTableSize(8 << 20).WithNumMemtables(1).WithCompression(options.None).
		WithValueThreshold(1 << 20).WithNumLevelZeroTables(1000).WithNumLevelZeroTablesStall(2000)
	var err error
	db, err = badger.Open(settings)
	check(err)
	work(8, time.Millisecond, handle)
}

func handle() {
	key := []byte(strconv.FormatInt(keys.Add(1)*7919%1_000_003, 10))
	check(db.Update(func(t *badger.Txn) error { return t.Set(key, value) }))
}
