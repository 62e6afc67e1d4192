package main

import (
	"sync"
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

	for _, kind := range []string{"rw-readers", "rw-deferred"} {
		s := &shared{name: kind}
		r := add(kind, unsafe.Pointer(&s.rw))
		for place := 1; place <= 3; place++ {
			repeat(1, func(me int64) {
				if kind == "rw-readers" {
					s.read(r, place, me)
				} else {
					s.readDeferred(r, place, me)
				}
				pause()
			})
		}
		repeat(2, func(me int64) { s.write(r, me); pause() })
	}
}
