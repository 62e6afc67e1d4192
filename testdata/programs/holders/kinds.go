package main

import (
	"sync"
	"unsafe"
)

type thing struct {
	name string
	mu   sync.Mutex
	next *thing
}

type embedding struct {
	name string
	sync.Mutex
}

type box[T any] struct {
	value T
	mu    sync.Mutex
}

var globalLock sync.Mutex

//go:noinline
func global(r *record, me int64) {
	globalLock.Lock()
	use(r, me)
	globalLock.Unlock()
}

//go:noinline
func (t *thing) field(r *record, me int64) {
	t.mu.Lock()
	use(r, me)
	t.mu.Unlock()
}

//go:noinline
func (t *thing) deferred(r *record, me int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.took(0, me)
	defer r.gives(0)
	work()
}

//go:noinline
func (t *thing) deferredClosure(r *record, me int64) {
	t.mu.Lock()
	defer func() {
		r.gives(0)
		t.mu.Unlock()
	}()
	r.took(0, me)
	work()
}

// deferredList has a defer statement in a loop, for which the compiler generates other code.
//
//go:noinline
func (t *thing) deferredList(r *record, me int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for range t.name {
		defer func() {}()
	}
	use(r, me)
}

// closure returns a function that captures the lock.
//
//go:noinline
func closure(mu *sync.Mutex, r *record) func(me int64) {
	return func(me int64) {
		mu.Lock()
		use(r, me)
		mu.Unlock()
	}
}

//go:noinline
func (e *embedding) embedded(r *record, me int64) {
	e.Lock()
	use(r, me)
	e.Unlock()
}

//go:noinline
func (t *thing) methodValue(r *record, me int64) {
	lock, unlock := t.mu.Lock, t.mu.Unlock
	lock()
	use(r, me)
	unlock()
}

//go:noinline
func (t *thing) lock() { t.mu.Lock() }

//go:noinline
func (t *thing) unlock() { t.mu.Unlock() }

//go:noinline
func (t *thing) helper(r *record, me int64) {
	t.lock()
	use(r, me)
	t.unlock()
}

//go:noinline
func (b *box[T]) generic(r *record, me int64) {
	b.mu.Lock()
	use(r, me)
	b.mu.Unlock()
}

// nested takes two locks of one type.
//
//go:noinline
func nested(a, b *thing, ra, rb *record, me int64) {
	a.mu.Lock()
	ra.took(0, me)
	b.mu.Lock()
	use(rb, me)
	b.mu.Unlock()
	ra.gives(0)
	a.mu.Unlock()
}

//go:noinline
func argument(mu *sync.Mutex, r *record, me int64) {
	mu.Lock()
	use(r, me)
	mu.Unlock()
}

//go:noinline
func inMap(m map[string]*thing, key string, r *record, me int64) {
	t := m[key]
	t.mu.Lock()
	use(r, me)
	t.mu.Unlock()
}

// twiceInMap looks up the lock again to release it. While it holds the lock, nothing in its frame points to the lock.
//
//go:noinline
func twiceInMap(m map[string]*thing, key string, r *record, me int64) {
	m[key].mu.Lock()
	use(r, me)
	m[key].mu.Unlock()
}

//go:noinline
func inSlice(ts []thing, i int, r *record, me int64) {
	ts[i].mu.Lock()
	use(r, me)
	ts[i].mu.Unlock()
}

// path loads the pointer to the struct with the lock again to release it.
//
//go:noinline
func (t *thing) path(r *record, me int64) {
	t.next.mu.Lock()
	use(r, me)
	t.next.mu.Unlock()
}

//go:noinline
func (t *thing) localLocker(r *record, me int64) {
	var l sync.Locker = &t.mu
	l.Lock()
	use(r, me)
	l.Unlock()
}

//go:noinline
func locker(l sync.Locker, r *record, me int64) {
	l.Lock()
	use(r, me)
	l.Unlock()
}

//go:noinline
func (t *thing) with(f func()) {
	t.mu.Lock()
	f()
	t.mu.Unlock()
}

//go:noinline
func (t *thing) early(r *record, me int64) bool {
	t.mu.Lock()
	r.took(0, me)
	if t.next == nil {
		r.gives(0)
		t.mu.Unlock()
		return false
	}
	work()
	r.gives(0)
	t.mu.Unlock()
	return true
}

// lend releases its caller's lock for a while, or does nothing.
//
//go:noinline
func (t *thing) lend(r *record, me int64) {
	if t.next == nil {
		return
	}
	r.gives(0)
	t.mu.Unlock()
	pause()
	t.mu.Lock()
	r.took(0, me)
}

//go:noinline
func (t *thing) lending(r *record, me int64) {
	t.mu.Lock()
	r.took(0, me)
	t.lend(r, me)
	work()
	r.gives(0)
	t.mu.Unlock()
}

// workers is the number of goroutines that contend for a lock.
const workers = 5

// each starts goroutines that contend for the lock of a new thing.
func each(kind string, do func(t *thing, r *record, me int64)) {
	t := &thing{name: kind}
	t.next = &thing{name: "next"}
	contend(kind, &t.mu, func(r *record, me int64) { do(t, r, me) })
}

// contend starts goroutines that contend for a lock.
func contend(kind string, mu *sync.Mutex, do func(r *record, me int64)) {
	r := addMutex(kind, mu)
	repeat(workers, func(me int64) {
		do(r, me)
		pause()
	})
}

// addMutex adds a record of a sync.Mutex to the table.
func addMutex(kind string, mu *sync.Mutex) *record { return add(kind, unsafe.Pointer(mu)) }

// start starts the kinds of code whose holders the sampler must find.
func start() {
	each("field", (*thing).field)
	each("defer", (*thing).deferred)
	each("defer-closure", (*thing).deferredClosure)
	each("defer-list", (*thing).deferredList)
	each("method-value", (*thing).methodValue)
	each("helper", (*thing).helper)
	each("argument", func(t *thing, r *record, me int64) { argument(&t.mu, r, me) })
	each("closure", func(t *thing, r *record, me int64) { closure(&t.mu, r)(me) })
	each("local-locker", (*thing).localLocker)
	each("locker", func(t *thing, r *record, me int64) { locker(&t.mu, r, me) })
	each("lending", (*thing).lending)
	each("early-return", func(t *thing, r *record, me int64) { t.early(r, me) })
	each("callback", func(t *thing, r *record, me int64) { t.with(func() { use(r, me) }) })
	for i := 0; i < 4; i++ {
		each("instances", (*thing).field)
	}

	contend("global", &globalLock, global)
	e := &embedding{name: "embedded"}
	contend("embedded", &e.Mutex, e.embedded)
	g := &box[string]{value: "generic"}
	contend("generic", &g.mu, g.generic)
	m := map[string]*thing{"a": {}, "b": {}}
	contend("map", &m["b"].mu, func(r *record, me int64) { inMap(m, "b", r, me) })
	ts := make([]thing, 4)
	contend("slice", &ts[2].mu, func(r *record, me int64) { inSlice(ts, 2, r, me) })
	p := &thing{next: &thing{}}
	contend("path", &p.next.mu, p.path)

	a, b := &thing{name: "a"}, &thing{name: "b"}
	ra, rb := addMutex("nested", &a.mu), addMutex("nested", &b.mu)
	repeat(workers, func(me int64) { nested(a, b, ra, rb, me); pause() })
	repeat(2, func(me int64) { b.field(rb, me); pause() })
}
