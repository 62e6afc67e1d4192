package main

import (
	"sync"
	"unsafe"
)

// relax releases the lock for a while.
//
//go:noinline
func (t *thing) relax(r *record, me int64) {
	r.gives(0)
	t.mu.Unlock()
	work()
	t.mu.Lock()
	r.took(0, me)
}

//go:noinline
func (t *thing) relaxing(r *record, me int64) {
	t.mu.Lock()
	r.took(0, me)
	t.relax(r, me)
	pause()
	r.gives(0)
	t.mu.Unlock()
}

// acquire takes the lock, and returns a function that releases it.
//
//go:noinline
func (t *thing) acquire(r *record, me int64) func() {
	t.mu.Lock()
	r.took(0, me)
	return func() {
		r.gives(0)
		t.mu.Unlock()
	}
}

//go:noinline
func (t *thing) release(r *record, me int64) {
	unlock := t.acquire(r, me)
	work()
	unlock()
	work() // without the lock
}

//go:noinline
func (t *thing) maybe(r *record, me int64, always bool) {
	if always {
		t.mu.Lock()
		r.took(0, me)
	}
	work()
	if always {
		r.gives(0)
		t.mu.Unlock()
	}
}

//go:noinline
func (t *thing) try(r *record, me int64) {
	if !t.mu.TryLock() {
		t.mu.Lock()
	}
	use(r, me)
	t.mu.Unlock()
}

// cond waits for a sync.Cond, and does not hold the lock during the wait.
//
//go:noinline
func cond(t *thing, c *sync.Cond, r *record, me int64) {
	c.L.Lock()
	r.took(0, me)
	r.gives(0)
	c.Wait()
	r.took(0, me)
	pause()
	r.gives(0)
	c.L.Unlock()
}

// recovered panics with the lock. A deferred function releases the lock, and then runs for a while.
//
//go:noinline
func (t *thing) recovered(r *record, me int64) {
	t.mu.Lock()
	r.took(0, me)
	defer func() {
		recover()
		r.gives(0)
		t.mu.Unlock()
		work()
	}()
	work()
	panic(t)
}

// startOdd starts code in which the holder of the lock is not, or not always, visible. The sampler must not name a wrong one.
func startOdd() {
	each("odd-relaxing", (*thing).relaxing)
	each("odd-maybe", func(t *thing, r *record, me int64) { t.maybe(r, me, true) })
	each("odd-try", (*thing).try)
	each("odd-recovered", (*thing).recovered)

	t := &thing{name: "cond"}
	r := add("odd-cond", unsafe.Pointer(&t.mu))
	c := sync.NewCond(&t.mu)
	repeat(3, func(me int64) { cond(t, c, r, me) })
	repeat(2, func(me int64) {
		t.field(r, me)
		c.Broadcast()
		pause()
	})
}
