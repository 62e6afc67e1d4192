// Convoy: goroutines contend for locks that change hands all the time. Beside each lock stands whose it is, and a log tells
// who had it in turn, so that of a moment in which nobody has come to know that he has it, it can be told later whose it
// was. It prints the address and the size of the table of locks and their kinds, and goes on until it is killed. Go 1.21
// builds it too.
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

const logSize = 1 << 14

// A contest is a lock, and what a test reads of it. What follows the lock is read together with it.
type contest struct {
	mu    sync.Mutex
	turn  uint64 // number of the last one that had the lock
	owner int64  // goroutine that has it; 0 from before it is given back
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
	runtime.GOMAXPROCS(2)
	tight, threads, slow := &contests[0], &contests[1], &contests[2]
	repeat(8, func(me int64) { tight.do(me, func() { spin(100) }) })
	repeat(40, func(me int64) {
		runtime.LockOSThread() // to be handed the lock is to have a thread woken
		threads.do(me, func() { spin(100) })
	})
	repeat(8, func(me int64) { slow.do(me, func() { time.Sleep(time.Millisecond) }) })
	fmt.Printf("%p %d tight threads slow\n", &contests, unsafe.Sizeof(contest{}))
	os.Stdout.Sync()
	select {}
}
