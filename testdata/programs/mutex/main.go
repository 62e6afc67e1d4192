// Mutex: eight workers contend for a lock, and each sleeps while it holds it. So at nearly every instant one goroutine sleeps
// in hold and seven wait in sync.(*Mutex).Lock. Four readers wait for a reader-writer lock that is never released, and a
// writer for another.
package main

import (
	"fmt"
	"sync"
	"time"
)

type shared struct {
	padding [3]int64
	mu      sync.Mutex
	rw      sync.RWMutex
	read    sync.RWMutex
}

var state shared

func main() {
	state.rw.Lock()
	state.read.RLock()
	for range 4 {
		go reader()
	}
	go writer()
	for i := range 8 {
		go worker(i)
	}
	// The tests compare these addresses with those that the sampler finds.
	fmt.Printf("%p %p %p\n", &state.mu, &state.rw, &state.read)
	select {}
}

func worker(int) {
	for {
		state.mu.Lock()
		hold()
		state.mu.Unlock()
	}
}

//go:noinline
func hold() { time.Sleep(20 * time.Millisecond) }

func reader() {
	state.rw.RLock()
	state.rw.RUnlock()
}

func writer() {
	state.read.Lock()
	state.read.Unlock()
}
