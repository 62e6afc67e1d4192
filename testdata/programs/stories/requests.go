package main

import (
	"log"
	"math/rand"
	"strconv"
	"sync"
	"time"
)

// gradual serves requests from a cache, which warms up: ever fewer have to be loaded. Of the variants, "cold" keeps nothing, and
// "warm" has everything from the beginning.
func gradual(variant string) func() {
	const keys = 500
	c := &cache{known: make([]bool, keys), keeps: variant == "warming"}
	requests := int64(3500)
	switch variant {
	case "cold":
		requests = 350
	case "warm":
		for i := range c.known {
			c.known[i] = true
		}
	}
	return func() {
		inParallel(4, func(n int) {
			random := rand.New(rand.NewSource(int64(n)))
			for served.Load() < requests {
				c.get(random.Intn(keys))
				served.Add(1)
			}
		})
	}
}

type cache struct {
	mu    sync.Mutex
	known []bool
	keeps bool
}

func (c *cache) get(key int) {
	c.mu.Lock()
	known := c.known[key]
	c.mu.Unlock()
	if known {
		lookUp()
		return
	}
	load()
	c.mu.Lock()
	c.known[key] = c.keeps
	c.mu.Unlock()
}

//go:noinline
func load() { time.Sleep(20 * time.Millisecond) }

//go:noinline
func lookUp() { time.Sleep(2 * time.Millisecond) }

// sudden serves requests with one implementation, and from the middle on with another one; in the variant "same" with the first
// one throughout.
func sudden(variant string) func() {
	const each = 240
	return func() {
		inParallel(3, func(int) { serve(older, each) })
		if variant == "same" {
			inParallel(3, func(int) { serve(older, 2*each) })
			return
		}
		inParallel(3, func(int) { serve(newer, each+1400) })
	}
}

// serve serves a number of requests.
func serve(request func(), until int64) {
	for served.Load() < until {
		request()
		served.Add(1)
	}
}

//go:noinline
func older() { time.Sleep(15 * time.Millisecond) }

//go:noinline
func newer() { time.Sleep(2 * time.Millisecond) }

// scale does the same work with a number of workers. Every other piece of work
// updates a table, which takes its lock; the others write to a log, which has a
// lock of package log. With a negative number, each worker has a table and a
// log of its own.
func scale(variant string) func() {
	workers, err := strconv.Atoi(variant)
	if err != nil {
		panic(err)
	}
	shared := newTable()
	tables := func() *table { return shared }
	if workers < 0 {
		workers, tables = -workers, newTable
	}
	return func() {
		inParallel(workers, func(int) {
			t := tables()
			for n := served.Add(1); n <= 240; n = served.Add(1) {
				if n%2 == 0 {
					t.update()
				} else {
					t.log.Print("updated")
				}
			}
		})
	}
}

type table struct {
	mu  sync.Mutex
	log *log.Logger
}

func newTable() *table { return &table{log: log.New(slowWriter{}, "", 0)} }

func (t *table) update() {
	t.mu.Lock()
	time.Sleep(4 * time.Millisecond)
	t.mu.Unlock()
}

// A slowWriter writes as a slow disk does.
type slowWriter struct{}

func (slowWriter) Write(b []byte) (int, error) {
	time.Sleep(4 * time.Millisecond)
	return len(b), nil
}
