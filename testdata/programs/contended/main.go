// Contended: goroutines contend for two locks. Each is held only for microseconds, so that most waits end soon after a
// sampler sees them. The program prints where the locks are: the address of the first, the distance between them, and their
// number.
package main

import (
	"fmt"
	"sync"
	"unsafe"
)

// size is at least a cache line's, so that the locks don't disturb each other.
const size = 128

type simple struct {
	mu    sync.Mutex
	count [4]int
	_     [size - 8 - 32]byte
}

type shared struct {
	mu    sync.RWMutex
	count [4]int
	_     [size - 24 - 32]byte
}

var locks struct {
	simple simple
	shared shared
}

func main() {
	go locks.simple.work()
	go locks.simple.work()
	go locks.shared.write()
	go locks.shared.read()
	fmt.Printf("%p %d %d\n", &locks, size, unsafe.Sizeof(locks)/size)
	select {}
}

func (s *simple) work() {
	for {
		s.mu.Lock()
		spend(&s.count)
		s.mu.Unlock()
	}
}

func (s *shared) write() {
	for {
		s.mu.Lock()
		spend(&s.count)
		s.mu.Unlock()
	}
}

func (s *shared) read() {
	for {
		s.mu.RLock()
		s.mu.RUnlock()
	}
}

//go:noinline
func spend(count *[4]int) {
	for i := 0; i < 2000; i++ {
		count[i%4]++
	}
}
