package main

import "sync"

// A wrapped is a lock that can be switched off.
type wrapped struct {
	mu       sync.Mutex
	disabled bool
}

func (w *wrapped) Lock() {
	if !w.disabled {
		w.mu.Lock()
	}
}

func (w *wrapped) Unlock() {
	if !w.disabled {
		w.mu.Unlock()
	}
}

// Disable keeps the compiler from knowing the field's value.
//
//go:noinline
func (w *wrapped) Disable(yes bool) { w.disabled = yes }

//go:noinline
func (w *wrapped) use(r *record, me int64) {
	w.Lock()
	use(r, me)
	w.Unlock()
}

//go:noinline
func (w *wrapped) useDeferred(r *record, me int64) {
	w.Lock()
	defer w.Unlock()
	use(r, me)
}

// conditionalDefer takes the lock, and defers its release, on one of two paths.
//
//go:noinline
func (t *thing) conditionalDefer(r *record, me int64, locked bool) {
	if !locked {
		t.mu.Lock()
		defer t.mu.Unlock()
		r.took(0, me)
		defer r.gives(0)
	}
	work()
}

// manyDefers has more deferred calls than the compiler writes into a function's exits.
//
//go:noinline
func (t *thing) manyDefers(r *record, me int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.took(0, me)
	defer r.gives(0)
	defer nothing(1)
	defer nothing(2)
	defer nothing(3)
	defer nothing(4)
	defer nothing(5)
	defer nothing(6)
	defer nothing(7)
	defer nothing(8)
	work()
}

//go:noinline
func nothing(int) {}

// deferInLoop takes several locks, and releases all of them when it returns.
//
//go:noinline
func deferInLoop(ts []*thing, rs []*record, me int64) {
	for i, t := range ts {
		t.mu.Lock()
		defer t.mu.Unlock()
		rs[i].took(0, me)
		defer rs[i].gives(0)
	}
	work()
}

// deferInDefer releases the lock in a function that a deferred function defers.
//
//go:noinline
func (t *thing) deferInDefer(r *record, me int64) {
	t.mu.Lock()
	defer func() {
		defer t.mu.Unlock()
		r.gives(0)
	}()
	r.took(0, me)
	work()
}

// startConditions starts code that takes its lock on some paths only, or releases it in deferred calls that are not in a
// function's code.
func startConditions() {
	a, b := &wrapped{}, &wrapped{}
	a.Disable(false)
	b.Disable(false)
	contend("wrapped", &a.mu, a.use)
	contend("wrapped-defer", &b.mu, b.useDeferred)
	each("many-defers", (*thing).manyDefers)
	each("defer-in-defer", (*thing).deferInDefer)
}
