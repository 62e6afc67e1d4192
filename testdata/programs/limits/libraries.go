package main

import (
	"context"
	"reflect"
	"sync"
	"unsafe"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"
)

// running is canceled by nobody.
var running, _ = context.WithCancel(context.Background())

//go:noinline
func weighted(s *semaphore.Weighted, r *record, me int64) {
	if err := s.Acquire(context.Background(), 1); err != nil {
		panic(err)
	}
	defer s.Release(1)
	use(r, me)
}

// A gate has a mutex before its semaphore, as pools have.
type gate struct {
	mu     sync.Mutex
	places *semaphore.Weighted
	used   int
}

//go:noinline
func (g *gate) pass(ctx context.Context, r *record, me int64) {
	if g.places.Acquire(ctx, 1) != nil {
		return
	}
	g.mu.Lock()
	g.used++
	g.mu.Unlock()
	use(r, me)
	g.places.Release(1)
}

func startLibraries() {
	s := semaphore.NewWeighted(1)
	r := addParts("x-semaphore-defer", 1, unsafe.Pointer(s))
	contend(func(me int64) { weighted(s, r, me) })
	p := &gate{places: semaphore.NewWeighted(2)}
	rp := addParts("x-semaphore", 2, unsafe.Pointer(p.places))
	contend(func(me int64) { p.pass(running, rp, me) })
	startGroup()
	startFlight()
}

// startGroup starts a goroutine that waits for a place in an errgroup.Group with a limit.
func startGroup() {
	g := new(errgroup.Group)
	g.SetLimit(2)
	r := addParts("errgroup-limit", 2, reflect.ValueOf(g).Elem().FieldByName("sem").UnsafePointer())
	go func() {
		for {
			g.Go(func() error {
				use(r, goid())
				return nil
			})
		}
	}()
}

// startFlight starts goroutines that wait for the call that one of them makes for all.
func startFlight() {
	g := new(singleflight.Group)
	r := addParts("singleflight", 1, nil)
	contend(func(me int64) {
		g.Do("key", func() (any, error) {
			// The sync.WaitGroup is the first field of the call. Nobody changes the map while there is the one call.
			calls := reflect.ValueOf(g).Elem().FieldByName("m")
			r.object.Store(uintptr(calls.MapIndex(reflect.ValueOf("key")).UnsafePointer()))
			use(r, me)
			return nil, nil
		})
	})
}
