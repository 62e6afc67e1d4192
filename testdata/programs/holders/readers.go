package main

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

type shared struct {
	name string
	rw   sync.RWMutex
}

//go:noinline
func (s *shared) write(r *record, me int64) {
	s.rw.Lock()
	r.took(0, me)
	work()
	r.gives(0)
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

// startReaders starts writers that wait for one another, and readers and writers that wait for each other.
func startReaders() {
	w := &shared{name: "writers"}
	rw := add("rw-writers", unsafe.Pointer(&w.rw))
	repeat(workers, func(me int64) { w.write(rw, me); pause() })

	startShared("rw-readers", (*shared).read)
	startShared("rw-deferred", (*shared).readDeferred)
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
