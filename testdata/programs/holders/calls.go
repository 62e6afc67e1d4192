package main

import "sync"

// A clocked has functions in its fields, as loggers and pools have: what they do is known only when they are called.
type clocked struct {
	mu    sync.Mutex
	now   func() int
	t     int
	hooks *hooks
	array [4]int
}

// hooks are called at certain moments, if they are set.
type hooks struct{ begin, end func() }

func newClocked() *clocked {
	return &clocked{now: func() int { return 1 }, hooks: &hooks{begin: func() {}}}
}

// now can be replaced by tests, as many package variables can.
var now = func() int { return 2 }

// funcField calls a function in a field under a lock that a deferred call releases.
//
//go:noinline
func (c *clocked) funcField(r *record, me int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.took(0, me)
	defer r.gives(0)
	c.t = c.now()
	work()
}

// funcFieldPlain releases the lock without a deferred call.
//
//go:noinline
func (c *clocked) funcFieldPlain(r *record, me int64) {
	c.mu.Lock()
	r.took(0, me)
	c.t = c.now()
	work()
	r.gives(0)
	c.mu.Unlock()
}

//go:noinline
func (c *clocked) funcVariable(r *record, me int64) {
	c.mu.Lock()
	r.took(0, me)
	c.t = now()
	work()
	r.gives(0)
	c.mu.Unlock()
}

// inCallback works in the function that it calls.
//
//go:noinline
func (c *clocked) inCallback(r *record, me int64, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.took(0, me)
	f()
	c.t++
	r.gives(0)
}

// traced calls hooks that may be missing.
//
//go:noinline
func (c *clocked) traced(r *record, me int64) {
	if c.hooks.begin != nil {
		c.hooks.begin()
	}
	c.mu.Lock()
	r.took(0, me)
	if c.hooks.begin != nil {
		c.hooks.begin()
	}
	work()
	if c.hooks.end != nil {
		c.hooks.end()
	}
	r.gives(0)
	c.mu.Unlock()
}

// indexed stores to an element of an array in its frame.
//
//go:noinline
func (c *clocked) indexed(r *record, me int64) {
	var seen [4]int
	c.mu.Lock()
	r.took(0, me)
	for i := range c.array {
		seen[(i+c.t)%4] = i
	}
	work()
	c.array = seen
	r.gives(0)
	c.mu.Unlock()
}

// relock releases the lock in a loop for as long as something is not ready.
//
//go:noinline
func (c *clocked) relock(r *record, me int64) {
	c.mu.Lock()
	r.took(0, me)
	for i := 0; i < 2; i++ {
		r.gives(0)
		c.mu.Unlock()
		pause()
		c.mu.Lock()
		r.took(0, me)
	}
	work()
	r.gives(0)
	c.mu.Unlock()
}

// choices releases the lock in each case of a switch.
//
//go:noinline
func (c *clocked) choices(r *record, me int64) int {
	c.mu.Lock()
	r.took(0, me)
	work()
	switch c.now() + int(me%3) {
	case 1:
		r.gives(0)
		c.mu.Unlock()
		return 1
	case 2:
		c.t++
		r.gives(0)
		c.mu.Unlock()
		pause()
		return 2
	}
	work()
	r.gives(0)
	c.mu.Unlock()
	return 0
}

// startCalls starts code that calls functions of its callers' choice under a lock, or releases the lock in several places.
func startCalls() {
	eachClocked("func-field", (*clocked).funcField)
	eachClocked("func-field-plain", (*clocked).funcFieldPlain)
	eachClocked("func-variable", (*clocked).funcVariable)
	eachClocked("in-callback", func(c *clocked, r *record, me int64) { c.inCallback(r, me, work) })
	eachClocked("trace-hooks", (*clocked).traced)
	eachClocked("relock-in-loop", (*clocked).relock)
	eachClocked("switch", func(c *clocked, r *record, me int64) { c.choices(r, me) })
}

// eachClocked starts goroutines that contend for the lock of a new clocked.
func eachClocked(kind string, do func(c *clocked, r *record, me int64)) {
	c := newClocked()
	contend(kind, &c.mu, func(r *record, me int64) { do(c, r, me) })
}
