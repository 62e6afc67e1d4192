package main

import (
	"errors"
	"sync"
)

// finish is called with the lock, and releases it.
//
//go:noinline
func (t *thing) finish(r *record) {
	work()
	r.gives(0)
	t.mu.Unlock()
	pause()
}

//go:noinline
func (t *thing) calleeUnlocks(r *record, me int64) {
	t.mu.Lock()
	r.took(0, me)
	t.finish(r)
}

// finishDeferred is called with the lock, and releases it by a deferred call.
//
//go:noinline
func (t *thing) finishDeferred(r *record) {
	defer t.mu.Unlock()
	work()
	r.gives(0)
}

//go:noinline
func (t *thing) calleeDefers(r *record, me int64) {
	t.mu.Lock()
	r.took(0, me)
	t.finishDeferred(r)
}

// acquireMethod takes the lock, and returns the method that releases it.
//
//go:noinline
func (t *thing) acquireMethod() func() {
	t.mu.Lock()
	return t.mu.Unlock
}

//go:noinline
func (t *thing) returnedMethod(r *record, me int64) {
	defer t.acquireMethod()()
	use(r, me)
}

//go:noinline
func (t *thing) returnedDeferred(r *record, me int64) {
	unlock := t.acquire(r, me)
	defer unlock()
	work()
}

//go:noinline
func (t *thing) methodExpression(r *record, me int64) {
	lock, unlock := (*sync.Mutex).Lock, (*sync.Mutex).Unlock
	lock(&t.mu)
	use(r, me)
	unlock(&t.mu)
}

// A registry has a lock for each key, and one for itself.
type registry struct {
	mu    sync.Mutex
	locks map[string]*sync.Mutex
}

//go:noinline
func (g *registry) lockOf(key string) *sync.Mutex {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.locks[key]
	if l == nil {
		l = new(sync.Mutex)
		g.locks[key] = l
	}
	return l
}

//go:noinline
func (g *registry) with(key string, r *record, me int64) {
	l := g.lockOf(key)
	l.Lock()
	defer l.Unlock()
	use(r, me)
}

// withChained doesn't name the lock.
//
//go:noinline
func (g *registry) withChained(key string, r *record, me int64) {
	g.lockOf(key).Lock()
	use(r, me)
	g.lockOf(key).Unlock()
}

// A database hands out transactions. A transaction has the lock until it is closed.
type database struct {
	lock   sync.Mutex
	closed bool
}

type transaction struct {
	db *database
	r  *record
}

var errClosed = errors.New("closed")

//go:noinline
func (d *database) begin(r *record, me int64) (*transaction, error) {
	d.lock.Lock()
	if d.closed {
		d.lock.Unlock()
		return nil, errClosed
	}
	r.took(0, me)
	return &transaction{d, r}, nil
}

//go:noinline
func (x *transaction) close() {
	if x.db == nil {
		return
	}
	x.r.gives(0)
	x.db.lock.Unlock()
	x.db = nil
}

//go:noinline
func (d *database) transact(r *record, me int64) error {
	x, err := d.begin(r, me)
	if err != nil {
		return err
	}
	defer x.close()
	work()
	return nil
}

// operations are functions in a table, as programs have them that were translated from C.
type operations struct{ enter, leave func(*thing) }

var byName = &operations{(*thing).lock, (*thing).unlock}

//go:noinline
func (t *thing) byTable(o *operations, r *record, me int64) {
	o.enter(t)
	use(r, me)
	o.leave(t)
}

// givenToGoroutine takes the lock, and starts a goroutine that releases it.
//
//go:noinline
func (t *thing) givenToGoroutine(r *record, done chan bool) {
	t.mu.Lock()
	go func() {
		use(r, goid())
		t.mu.Unlock()
		done <- true
	}()
	<-done
}

// givenWithCallback does the same, and calls a function that it does not know.
//
//go:noinline
func (t *thing) givenWithCallback(r *record, done chan bool, callback func()) {
	t.mu.Lock()
	go func() {
		use(r, goid())
		t.mu.Unlock()
		done <- true
	}()
	callback()
	<-done
}

// startPassed starts code that takes a lock in one function and releases it in another.
func startPassed() {
	each("callee-unlocks", (*thing).calleeUnlocks)
	each("callee-unlocks-defer", (*thing).calleeDefers)
	each("method-expression", (*thing).methodExpression)
	each("by-table", func(t *thing, r *record, me int64) { t.byTable(byName, r, me) })

	g := &registry{locks: map[string]*sync.Mutex{}}
	contend("map-of-pointers", g.lockOf("a"), func(r *record, me int64) { g.with("a", r, me) })

	d := &database{}
	contend("transaction", &d.lock, func(r *record, me int64) { d.transact(r, me) })

	t := &thing{name: "given"}
	r := addMutex("given-to-goroutine", &t.mu)
	repeat(workers, func(int64) { t.givenToGoroutine(r, make(chan bool)); pause() })
	u := &thing{name: "given"}
	ru := addMutex("given-with-callback", &u.mu)
	repeat(workers, func(int64) { u.givenWithCallback(ru, make(chan bool), pause); pause() })
}
