// Fooling: code that is made to be misread. For each kind, the holder of a lock is a goroutine whose frames show nothing of it: the lock
// was passed to it through a channel, and it unlocks by a chain of calls that is too deep to be analysed. Meanwhile another goroutine is
// at a place at which the lock may be held, and does not hold it. A table says who holds each lock, as in testdata/programs/holders.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// A record says who holds a lock.
type record struct {
	lock    uintptr
	changes atomic.Uint64
	holders [4]atomic.Int64 // goroutine ids
}

const maxRecords = 16

var (
	table [maxRecords]record
	kinds []string
)

// set records that a goroutine holds the lock; 0 for nobody.
//
//go:noinline
func (r *record) set(me int64) {
	r.holders[0].Store(me)
	r.changes.Add(1)
}

//go:noinline
func work() { time.Sleep(20 * time.Millisecond) }

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

// A lock is one that goroutines contend for, with its record.
type lock struct {
	mu sync.Mutex
	r  *record
}

// newLock adds a lock to the table, for which some goroutines contend.
func newLock(kind string) *lock {
	l := &lock{r: &table[len(kinds)]}
	l.r.lock = uintptr(unsafe.Pointer(&l.mu))
	kinds = append(kinds, kind)
	return l
}

// give takes the lock, and gives it to whoever receives from the channel.
//
//go:noinline
func (l *lock) give(to chan *lock) {
	l.mu.Lock()
	to <- l
}

// serve receives locks, and unlocks them.
func serve(from chan *lock) {
	for me := goid(); ; {
		l := <-from
		l.r.set(me)
		work()
		l.r.set(0)
		giveBack1(l)
		pause()
	}
}

//go:noinline
func giveBack1(l *lock) { giveBack2(l); nothing() }

//go:noinline
func giveBack2(l *lock) { giveBack3(l); nothing() }

//go:noinline
func giveBack3(l *lock) { giveBack4(l); nothing() }

//go:noinline
func giveBack4(l *lock) { giveBack5(l); nothing() }

//go:noinline
func giveBack5(l *lock) { l.mu.Unlock(); nothing() }

//go:noinline
func nothing() {}

// contend starts goroutines that give the lock to one that nobody suspects.
func contend(l *lock) {
	to := make(chan *lock)
	go serve(to)
	for i := 0; i < 3; i++ {
		go func() {
			for {
				l.give(to)
				pause()
			}
		}()
	}
}

// end takes the lock in a goroutine that ends. The lock is given back later.
func end(l *lock) {
	for {
		done := make(chan bool)
		go func() {
			l.mu.Lock()
			l.r.set(goid())
			done <- true
		}()
		<-done
		work()
		l.r.set(0)
		giveBack1(l)
		pause()
	}
}

func main() {
	start()
	fmt.Printf("%p %d %d", &table, unsafe.Sizeof(record{}), len(kinds))
	for _, k := range kinds {
		fmt.Printf(" %s", k)
	}
	fmt.Println()
	os.Stdout.Sync()
	select {}
}
