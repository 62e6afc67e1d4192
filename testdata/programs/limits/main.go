// Limits: goroutines wait for something that others have, and that is no lock of package sync: a place in a channel, a part of
// a semaphore, a connection of a pool, the result of a call. A table says who has each. The program prints the table's address
// and the kinds of what is in it, and runs until it is killed. With an argument, see fooling.go.
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

// A record says who has a thing, as in testdata/programs/holders.
type record struct {
	object  atomic.Uintptr
	changes atomic.Uint64
	holders [4]atomic.Int64 // goroutine ids
}

const maxRecords = 64

var (
	table [maxRecords]record
	kinds []string
)

// add adds a record of a thing to the table.
func add(kind string, object unsafe.Pointer) *record {
	r := &table[len(kinds)]
	r.object.Store(uintptr(object))
	kinds = append(kinds, kind)
	return r
}

// addParts does so for a thing that a number of goroutines have while others wait.
func addParts(kind string, parts int, object unsafe.Pointer) *record {
	return add(fmt.Sprintf("%s:%d", kind, parts), object)
}

// took records that a goroutine has the thing, or a part of it. It returns its place among the holders.
//
//go:noinline
func (r *record) took(me int64) (place int) {
	for !r.holders[place].CompareAndSwap(0, me) {
		place = (place + 1) % len(r.holders)
	}
	r.changes.Add(1)
	return place
}

// gives records that a goroutine is about to give the thing back.
//
//go:noinline
func (r *record) gives(place int) {
	r.holders[place].Store(0)
	r.changes.Add(1)
}

// work is called with the thing.
//
//go:noinline
func work() { time.Sleep(20 * time.Millisecond) }

// pause is called without it.
//
//go:noinline
func pause() { time.Sleep(3 * time.Millisecond) }

// use records that the goroutine has the thing while it works.
//
//go:noinline
func use(r *record, me int64) {
	place := r.took(me)
	work()
	r.gives(place)
}

// goid returns the runtime's id of the goroutine.
func goid() int64 {
	b := make([]byte, 64)
	b = bytes.TrimPrefix(b[:runtime.Stack(b, false)], []byte("goroutine "))
	n, err := strconv.ParseInt(string(b[:bytes.IndexByte(b, ' ')]), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// workers is the number of goroutines that contend for a thing.
const workers = 5

// contend starts goroutines that do something again and again.
func contend(do func(me int64)) {
	for range workers {
		go func() {
			for me := goid(); ; {
				do(me)
				pause()
			}
		}()
	}
}

func main() {
	if len(os.Args) > 1 {
		startFools()
	} else {
		startChannels()
		startLibraries()
		startPool()
		startFile()
	}
	fmt.Printf("%p %d %d", &table, unsafe.Sizeof(record{}), len(kinds))
	for _, k := range kinds {
		fmt.Printf(" %s", k)
	}
	fmt.Println()
	os.Stdout.Sync()
	select {}
}
