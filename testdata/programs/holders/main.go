// Holders: goroutines contend for locks. There is one lock for each way in which Go code takes and releases locks. A table
// says who holds each lock. The program prints the table's address and the kinds of the locks in it, and runs until it is
// killed. With the argument "convoy", see convoy.go. Go 1.21 can build it, too.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"
)

// A record says who holds a lock. A test reads it from the memory of the running program: as long as changes is the same,
// the rest is the same, too.
type record struct {
	lock    uintptr
	changes atomic.Uint64
	holders [4]atomic.Int64 // goroutine ids; several for readers
}

const maxRecords = 128

var (
	table [maxRecords]record
	kinds []string
)

// add adds a record of a lock to the table.
func add(kind string, lock unsafe.Pointer) *record {
	r := &table[len(kinds)]
	r.lock = uintptr(lock)
	kinds = append(kinds, kind)
	return r
}

// took records that a goroutine holds the lock, at its place among the holders.
//
//go:noinline
func (r *record) took(place int, me int64) {
	r.holders[place].Store(me)
	r.changes.Add(1)
}

// gives records that a goroutine is about to release the lock.
//
//go:noinline
func (r *record) gives(place int) {
	r.holders[place].Store(0)
	r.changes.Add(1)
}

// work is called with the lock.
//
//go:noinline
func work() { time.Sleep(20 * time.Millisecond) }

// use records that a goroutine holds the lock while it works.
//
//go:noinline
func use(r *record, me int64) {
	r.took(0, me)
	work()
	r.gives(0)
}

// pause is called without the lock: a goroutine in it must not be reported as a holder.
//
//go:noinline
func pause() { time.Sleep(3 * time.Millisecond) }

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

// Without the kinds that hide their locks, one goroutine may be the only one that can hold a lock.
var hidden = flag.Bool("hidden", true, "start code that holds a lock while nothing in its frames leads to the lock, too")

func main() {
	flag.Parse()
	if flag.NArg() > 0 {
		startConvoy()
	} else {
		startAll()
	}
	os.Stdout.Sync()
	select {}
}

// startAll starts code of all kinds, and prints the table.
func startAll() {
	start()
	startReaders()
	startConds()
	startOdd()
	startCalls()
	startInterfaces()
	startConditions()
	startPassed()
	startInsides()
	if *hidden {
		startHidden()
	}
	startChannels()
	fmt.Printf("%p %d %d", &table, unsafe.Sizeof(record{}), len(kinds))
	for _, k := range kinds {
		fmt.Printf(" %s", k)
	}
	fmt.Println()
}
