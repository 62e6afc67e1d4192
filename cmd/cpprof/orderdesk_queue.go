package main

import "runtime"

const backlog = 2000 // orders in a queue

// A queue is a list of orders, the oldest first.
//
// The second problem: push and size walk the whole list, so that
// the work grows with the square of the backlog. If the queue
// stored its end and its length, both would take hardly any
// time.
type queue struct {
	first *entry
}

type entry struct {
	order *order
	next  *entry
}

// push puts an order at the end.
//
//go:noinline
func (q *queue) push(o *order) {
	at := &q.first
	for *at != nil {
		at = &(*at).next
	}
	*at = &entry{order: o}
}

// pop removes the oldest order, if there is one, and returns it.
//
//go:noinline
func (q *queue) pop() *order {
	e := q.first
	if e == nil {
		return nil
	}
	q.first = e.next
	return e.order
}

// size counts the orders.
//
//go:noinline
func (q *queue) size() int {
	n := 0
	for e := q.first; e != nil; e = e.next {
		n++
	}
	return n
}

// intake puts the orders of one shop into a queue, and passes
// the oldest on once there are enough.
func intake() {
	var q queue
	for n := 0; ; n++ {
		accept(&q, newOrder(n))
		if n%25 == 0 {
			runtime.Gosched() // as it would to wait for the next
		}
	}
}

//go:noinline
func accept(q *queue, o *order) {
	q.push(o)
	if q.size() > backlog {
		q.pop()
	}
}
