package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"
)

type shared struct {
	name   string
	rw     sync.RWMutex
	closed bool
}

//go:noinline
func (s *shared) write(r *record, me int64) {
	s.rw.Lock()
	use(r, me)
	s.rw.Unlock()
}

//go:noinline
func (s *shared) read(r *record, place int, me int64) {
	s.rw.RLock()
	r.took(place, me)
	work()
	r.gives(place)
	s.rw.RUnlock()
}

//go:noinline
func (s *shared) readDeferred(r *record, place int, me int64) {
	s.rw.RLock()
	defer s.rw.RUnlock()
	r.took(place, me)
	defer r.gives(place)
	work()
}

// readOpen releases the lock at two places, one of them soon after it was taken.
//
//go:noinline
func (s *shared) readOpen(r *record, place int, me int64) {
	s.rw.RLock()
	if s.closed {
		s.rw.RUnlock()
		return
	}
	r.took(place, me)
	work()
	r.gives(place)
	s.rw.RUnlock()
}

// A view holds the read lock until it is rolled back, unless it writes.
type view struct {
	writes bool
	of     *shared
}

//go:noinline
func (s *shared) begin() *view {
	s.rw.RLock()
	if s.closed {
		s.rw.RUnlock()
		return nil
	}
	return &view{of: s}
}

//go:noinline
func (v *view) rollback() {
	if v.of == nil {
		panic(fmt.Sprintf("%v was rolled back", v))
	}
	v.undo()
}

//go:noinline
func (v *view) undo() {
	if v.of != nil {
		v.close()
	}
}

//go:noinline
func (v *view) close() {
	if v.writes {
		v.of.rw.Unlock()
	} else {
		v.of.remove(v)
	}
	v.of = nil
}

//go:noinline
func (s *shared) remove(*view) { s.rw.RUnlock() }

//go:noinline
func (s *shared) readView(r *record, place int, me int64) {
	v := s.begin()
	if v == nil {
		return
	}
	r.took(place, me)
	work()
	r.gives(place)
	v.rollback()
}

// startReaders starts writers that wait for one another, and readers and writers that wait for each other.
func startReaders() {
	w := &shared{name: "writers"}
	rw := add("rw-writers", unsafe.Pointer(&w.rw))
	repeat(workers, func(me int64) { w.write(rw, me); pause() })

	startShared("rw-readers", (*shared).read)
	startShared("rw-deferred", (*shared).readDeferred)
	startShared("rw-two-ends", (*shared).readOpen)
	startShared("rw-view", (*shared).readView)
}

func startShared(kind string, read func(s *shared, r *record, place int, me int64)) {
	s := &shared{name: kind}
	r := add(kind, unsafe.Pointer(&s.rw))
	var places atomic.Int64
	for n := 0; n < 3; n++ {
		go func() {
			me, place := goid(), int(places.Add(1))
			for {
				read(s, r, place, me)
				pause()
			}
		}()
	}
	repeat(2, func(me int64) { s.write(r, me); pause() })
}
