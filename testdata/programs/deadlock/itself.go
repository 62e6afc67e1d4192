package main

import (
	"sync"
	"time"
)

// A store's methods lock it, also those that its methods call.
type store struct {
	mu     sync.Mutex
	table  sync.RWMutex
	items  int
	change func()
}

// lockAgain starts goroutines that each lock what they have locked,
// in a store of their own: two in each way. Others could still reach
// each store.
func lockAgain() {
	for _, again := range []func(*store){
		func(s *store) { s.mu.Lock(); s.add(); s.mu.Unlock() },
		func(s *store) { s.mu.Lock(); defer s.mu.Unlock(); s.update() },
		func(s *store) { s.change = s.update; s.update() },
		func(s *store) { s.table.Lock(); defer s.table.Unlock(); s.write() },
		func(s *store) { s.table.RLock(); defer s.table.RUnlock(); s.write() },
		func(s *store) { s.table.Lock(); defer s.table.Unlock(); s.read() },
	} {
		for range 2 {
			s := &store{change: func() {}}
			go again(s)
			go func() {
				for s.items >= 0 {
					time.Sleep(time.Millisecond)
				}
				s.mu.Lock()
			}()
		}
	}
}

func (s *store) add() {
	s.mu.Lock()
	s.items++
	s.mu.Unlock()
}

func (s *store) update() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items++
	s.change()
}

func (s *store) write() {
	s.table.Lock()
	defer s.table.Unlock()
	s.items++
}

func (s *store) read() int {
	s.table.RLock()
	defer s.table.RUnlock()
	return s.items
}
