package main

import (
	"sync"
	"unsafe"
)

// A queue is a number of elements that goroutines put and take. Those that take some hold outer, too.
type queue struct {
	outer sync.Mutex
	mu    sync.Mutex
	ready *sync.Cond
	n     int
}

// take waits for an element. In Wait, mu is not held; outer is.
//
//go:noinline
func (q *queue) take(outer, r *record, me int64) {
	q.outer.Lock()
	outer.took(0, me)
	q.mu.Lock()
	for q.n == 0 {
		q.ready.Wait()
	}
	q.n--
	use(r, me)
	q.mu.Unlock()
	outer.gives(0)
	q.outer.Unlock()
}

//go:noinline
func (q *queue) put(r *record, me int64) {
	q.mu.Lock()
	r.took(0, me)
	work()
	q.n++
	r.gives(0)
	q.ready.Signal()
	q.mu.Unlock()
}

// startConds starts goroutines that contend for a mutex, while others wait for its Cond.
func startConds() {
	q := &queue{}
	q.ready = sync.NewCond(&q.mu)
	mu, outer := add("cond", unsafe.Pointer(&q.mu)), add("cond-outer", unsafe.Pointer(&q.outer))
	repeat(3, func(me int64) { q.take(outer, mu, me); pause() })
	repeat(2, func(me int64) { q.put(mu, me); pause() })
}
