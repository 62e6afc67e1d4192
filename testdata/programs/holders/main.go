// Holders: goroutines contend for locks in as many ways as Go code takes and gives them back, and say in a table who holds
// which. It prints the table's address and the kinds of the locks in it, and goes on until it is killed. Go 1.21 builds it
// too.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"
)

// A record says who holds a lock. A test reads it out of the running program: while changes is the same, so is the rest.
type record struct {
	lock    uintptr
	changes atomic.Uint64
	holders [4]atomic.Int64 // numbers of goroutines; several for readers
}

const maxRecords = 64

var (
	table [maxRecords]record
	kinds []string
)

// add makes a record of a lock.
func add(kind string, lock unsafe.Pointer) *record {
	r := &table[len(kinds)]
	r.lock = uintptr(lock)
	kinds = append(kinds, kind)
	return r
}

// took notes that a goroutine holds the lock, in its place among the holders.
//
//go:noinline
func (r *record) took(place int, me int64) {
	r.holders[place].Store(me)
	r.changes.Add(1)
}

// gives notes that a goroutine is about to give the lock back.
//
//go:noinline
func (r *record) gives(place int) {
	r.holders[place].Store(0)
	r.changes.Add(1)
}

// work is what is done under a lock.
//
//go:noinline
func work() { time.Sleep(20 * time.Millisecond) }

// pause is what is done without one, which must not be blamed.
//
//go:noinline
func pause() { time.Sleep(3 * time.Millisecond) }

// goid is the runtime's number of the goroutine.
func goid() int64 {
	b := make([]byte, 64)
	b = bytes.TrimPrefix(b[:runtime.Stack(b, false)], []byte("goroutine "))
	n, err := strconv.ParseInt(string(b[:bytes.IndexByte(b, ' ')]), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// repeat starts n goroutines that do something again and again.
func repeat(n int, do func(me int64)) {
	for ; n > 0; n-- {
		go func() {
			for me := goid(); ; {
				do(me)
			}
		}()
	}
}

func main() {
	start()
	startReaders()
	startOdd()
	startChannels()
	fmt.Printf("%p %d %d", &table, unsafe.Sizeof(record{}), len(kinds))
	for _, k := range kinds {
		fmt.Printf(" %s", k)
	}
	fmt.Println()
	os.Stdout.Sync()
	select {}
}
