// Leftlocked returns with locks that it does not give back, and with some that
// it does. Once both are left, goroutines wait for them for good.
package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

var errLast = errors.New("the last one")

type store struct {
	_  [2]uint64
	mu sync.Mutex
	rw sync.RWMutex
	n  int
}

var global sync.Mutex

// update returns with the lock if it fails.
//
//go:noinline
func (s *store) update(k int) error {
	s.mu.Lock()
	if k > 20 {
		return errLast // the lock is left
	}
	s.n++
	s.mu.Unlock()
	return nil
}

// read returns with a read lock.
//
//go:noinline
func (s *store) read(k int) (int, error) {
	s.rw.RLock()
	if k > 1<<20 {
		return 0, errLast
	}
	n := s.n
	s.rw.RUnlock()
	return n, nil
}

// flag leaves a variable's lock.
//
//go:noinline
func flag(k int) bool {
	global.Lock()
	if k > 20 {
		return false
	}
	work(k)
	global.Unlock()
	return true
}

// take takes the lock for its callers, on all ways.
//
//go:noinline
func (s *store) take() { s.mu.Lock(); work(s.n) }

// balanced unlocks what take has locked, on both ways.
//
//go:noinline
func (s *store) balanced(k int) error {
	s.take()
	if k > 1<<20 {
		s.mu.Unlock()
		return errLast
	}
	work(k)
	s.mu.Unlock()
	return nil
}

// forgets does not unlock it if it fails.
//
//go:noinline
func (s *store) forgets(k int) error {
	s.take()
	if k > 1<<20 {
		return errLast
	}
	work(k)
	s.mu.Unlock()
	return nil
}

// deferred unlocks on every way.
//
//go:noinline
func (s *store) deferred(k int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k > 1<<20 {
		return 0, errLast
	}
	return s.n, nil
}

// The callers of give have locked what it unlocks.
//
//go:noinline
func (s *store) give() { work(s.n); s.mu.Unlock() }

//go:noinline
func (s *store) paired(k int) {
	s.take()
	work(k)
	s.give()
}

//go:noinline
func work(k int) { worked += k }

var worked int

func main() {
	run(&store{})
	for {
		time.Sleep(time.Second)
	}
}

//go:noinline
func run(s *store) {
	go func() {
		for k := 0; ; k++ {
			s.read(k)
			s.balanced(k)
			s.paired(k)
			s.forgets(k)
			if s.update(k) != nil || !flag(k) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		flag(21)
		fmt.Fprintln(os.Stdout, "left")
	}()
	for range 3 {
		go func() {
			for k := 0; ; k++ {
				s.deferred(k)
				time.Sleep(5 * time.Millisecond)
			}
		}()
		go func() {
			for k := 0; ; k++ {
				global.Lock()
				work(k)
				global.Unlock()
				time.Sleep(5 * time.Millisecond)
			}
		}()
	}
}
