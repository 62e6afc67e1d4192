package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

const logSize = 1 << 14

// A contest is a lock with its data for a test. The test reads the lock and the fields after it at once.
type contest struct {
	mu    sync.Mutex
	turn  uint64 // how often the lock was taken
	owner int64  // the goroutine that holds it; set to 0 before the release
	log   [logSize]int64
}

var contests [3]contest

//go:noinline
func (c *contest) do(me int64, work func()) {
	c.mu.Lock()
	c.log[(c.turn+1)%logSize] = me
	c.turn++
	c.owner = me
	work()
	c.owner = 0
	c.mu.Unlock()
}

var sink atomic.Int64

// spin takes a few nanoseconds for each turn.
//
//go:noinline
func spin(turns int) {
	for ; turns > 0; turns-- {
		sink.Add(1)
	}
}

// startConvoy starts goroutines that contend for locks whose holders change all the time. Beside each lock, the program stores who
// holds it, and a log of all holders in order. Between the moment at which a goroutine gets a lock and the moment at which it stores
// that, only the log shows, later, who the holder was. The program prints the address and the size of the table of locks and
// their kinds.
func startConvoy() {
	runtime.GOMAXPROCS(2)
	tight, threads, slow := &contests[0], &contests[1], &contests[2]
	repeat(8, func(me int64) { tight.do(me, func() { spin(100) }) })
	repeat(40, func(me int64) {
		runtime.LockOSThread() // so that a thread must be woken for each handover of the lock
		threads.do(me, func() { spin(100) })
	})
	repeat(8, func(me int64) { slow.do(me, func() { time.Sleep(time.Millisecond) }) })
	fmt.Printf("%p %d tight threads slow\n", &contests, unsafe.Sizeof(contest{}))
}
