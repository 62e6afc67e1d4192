package main

import "sync"

// A store is locked by its users. Release is not its second method.
type store interface {
	Acquire()
	Put()
	Release()
}

type memoryStore struct {
	puts int
	mu   sync.Mutex
}

//go:noinline
func (m *memoryStore) Acquire() { m.mu.Lock() }

//go:noinline
func (m *memoryStore) Put() { m.puts++ }

//go:noinline
func (m *memoryStore) Release() { m.mu.Unlock() }

//go:noinline
func useStore(s store, r *record, me int64) {
	s.Acquire()
	defer s.Release()
	r.took(0, me)
	defer r.gives(0)
	s.Put()
	work()
}

//go:noinline
func lockerDeferred(l sync.Locker, r *record, me int64) {
	l.Lock()
	defer l.Unlock()
	r.took(0, me)
	defer r.gives(0)
	work()
}

// A guarded has its lock behind an interface.
type guarded struct {
	n    int
	lock sync.Locker
}

//go:noinline
func (g *guarded) field(r *record, me int64) {
	g.lock.Lock()
	r.took(0, me)
	g.n++
	work()
	r.gives(0)
	g.lock.Unlock()
}

//go:noinline
func (g *guarded) deferred(r *record, me int64) {
	g.lock.Lock()
	defer g.lock.Unlock()
	r.took(0, me)
	g.n++
	work()
	r.gives(0)
}

// An embedsLocker is locked like its lock.
type embedsLocker struct {
	sync.Locker
	n int
}

//go:noinline
func (e *embedsLocker) embedded(r *record, me int64) {
	e.Lock()
	defer e.Unlock()
	r.took(0, me)
	e.n++
	work()
	r.gives(0)
}

// An embedsPointer embeds a lock that may be another's, too.
type embedsPointer struct {
	*sync.Mutex
	n int
}

//go:noinline
func (e *embedsPointer) embedded(r *record, me int64) {
	e.Lock()
	r.took(0, me)
	e.n++
	work()
	r.gives(0)
	e.Unlock()
}

//go:noinline
func constrained[L sync.Locker](l L, r *record, me int64) {
	l.Lock()
	defer l.Unlock()
	use(r, me)
}

// startInterfaces starts code that knows its lock only as an interface, or by the type that embeds it.
func startInterfaces() {
	m := &memoryStore{}
	contend("interface", &m.mu, func(r *record, me int64) { useStore(m, r, me) })

	var a, b, c, d, e, f sync.Mutex
	contend("locker-defer", &a, func(r *record, me int64) { lockerDeferred(&a, r, me) })
	plain, deferred := &guarded{lock: &b}, &guarded{lock: &c}
	contend("locker-field", &b, plain.field)
	contend("locker-field-defer", &c, deferred.deferred)
	el, ep := &embedsLocker{Locker: &d}, &embedsPointer{Mutex: &e}
	contend("embedded-locker", &d, el.embedded)
	contend("embedded-pointer", &e, ep.embedded)
	contend("generic-locker", &f, func(r *record, me int64) { constrained(&f, r, me) })
}
