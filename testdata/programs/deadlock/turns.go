package main

import (
	"sync"
	"time"
)

// A table is read and written in turns. No goroutine ever waits for long.
type table struct {
	mu   sync.RWMutex
	rows int
}

var tables = map[string]*table{"only": {}}

// takeTurns starts readers and writers that wait for each other.
func takeTurns() {
	t := tables["only"]
	for _, turn := range []func(){browse, t.read, t.write, t.write} {
		go func() {
			for {
				turn()
				time.Sleep(time.Millisecond)
			}
		}()
	}
}

// browse looks up its table again to release it: nothing in its frame leads to the lock that it holds.
func browse() {
	tables["only"].mu.RLock()
	time.Sleep(30 * time.Millisecond)
	tables["only"].mu.RUnlock()
}

func (t *table) read() {
	t.mu.RLock()
	defer t.mu.RUnlock()
	time.Sleep(time.Millisecond)
}

func (t *table) write() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows++
	time.Sleep(5 * time.Millisecond)
}
