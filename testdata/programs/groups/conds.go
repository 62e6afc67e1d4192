package main

import "sync"

// A queue has one condition, for the goroutines that wait for an element.
type queue struct {
	mu    sync.Mutex
	some  *sync.Cond
	items []int
}

func newQueue() *queue {
	q := &queue{}
	q.some = sync.NewCond(&q.mu)
	return q
}

func (q *queue) pop() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 {
		q.some.Wait()
	}
	i := q.items[0]
	q.items = q.items[1:]
	q.some.Signal()
	return i
}

//go:noinline
func (q *queue) push(i int) {
	q.mu.Lock()
	q.items = append(q.items, i)
	q.mu.Unlock()
	q.some.Signal()
}

func pops(q *queue) {
	for {
		q.pop()
	}
}

func pushes(q *queue) {
	for i := 0; ; i++ {
		work()
		q.push(i)
	}
}

func waitTold(c *sync.Cond) {
	c.L.Lock()
	for {
		c.Wait()
	}
}

func tells(c *sync.Cond) {
	work()
	c.L.Lock()
	c.Broadcast()
	c.L.Unlock()
}

// told has already signalled, and doesn't end.
func told(c *sync.Cond) {
	c.Broadcast()
	work()
	keep(c)
}

func startConds() {
	q := newQueue()
	go pops(q)
	go pops(q)
	go pushes(q)
	c := sync.NewCond(new(sync.Mutex))
	go waitTold(c)
	go tells(c)
	go told(c)
}
