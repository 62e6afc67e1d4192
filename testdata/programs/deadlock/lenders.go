package main

import (
	"sync"
	"time"
)

// A desk has one lock. Helpers give it to others for a while.
type desk struct {
	mu   sync.Mutex
	idle *sync.Cond
	work int
}

// lend starts goroutines that wait for a lock which their callers
// had, and will release: helpers have released it meanwhile.
func lend() {
	d := &desk{}
	d.idle = sync.NewCond(&d.mu)
	for _, turn := range []func(){
		func() { d.mu.Lock(); d.pause(); d.mu.Unlock() },
		func() { d.mu.Lock(); defer d.mu.Unlock(); d.outside(rest) },
		func() { d.mu.Lock(); without(&d.mu, rest); d.mu.Unlock() },
		func() { d.mu.Lock(); d.perhaps(d.work%2 == 0); d.compute(); d.mu.Unlock() },
		func() { d.mu.Lock(); d.idle.Wait(); d.compute(); d.mu.Unlock() },
		func() { d.mu.Lock(); d.compute(); d.mu.Unlock(); d.idle.Broadcast() },
	} {
		for range 3 {
			go func() {
				for {
					turn()
				}
			}()
		}
	}
}

func rest() { time.Sleep(time.Millisecond) }

func (d *desk) compute() {
	for range 300_000 {
		d.work++
	}
}

func (d *desk) pause() {
	d.mu.Unlock()
	rest()
	d.mu.Lock()
}

func (d *desk) outside(do func()) {
	d.mu.Unlock()
	defer d.mu.Lock()
	do()
}

func (d *desk) perhaps(give bool) {
	if give {
		d.mu.Unlock()
		rest()
		d.mu.Lock()
	}
}

func without(l sync.Locker, do func()) {
	l.Unlock()
	do()
	l.Lock()
}
