package main

import (
	"container/list"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// some is a time of up to a limit.
func some(limit time.Duration) time.Duration { return rand.N(limit) }

// repeat starts goroutines that call a function again and again.
func repeat(n int, f func()) {
	for range n {
		go func() {
			for {
				f()
			}
		}()
	}
}

// workers are a pool that is made, gets tasks, and is closed, again and again.
func workers() {
	repeat(1, func() {
		tasks, done := make(chan int), make(chan int, 3)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for n := range tasks {
					time.Sleep(some(2 * time.Millisecond))
					done <- n
				}
			})
		}
		go func() { all.Wait(); close(done) }()
		go func() {
			for n := range 500 {
				tasks <- n
			}
			close(tasks)
		}()
		for range done {
		}
	})
}

// tickers wait for timers of all kinds; nobody else has those.
func tickers() {
	for i := range 50 {
		go func() {
			t := time.NewTicker(time.Duration(i+1) * 40 * time.Millisecond)
			late := time.After(time.Hour)
			for {
				select {
				case <-t.C:
				case <-late:
				}
			}
		}()
	}
	repeat(50, func() {
		woken := make(chan bool)
		time.AfterFunc(some(3*time.Second), func() { close(woken) })
		<-woken
	})
}

// group runs errgroups: some end by an error, and all have a limit.
func group() {
	repeat(4, func() {
		fails := rand.IntN(5) == 0
		g, ctx := errgroup.WithContext(context.Background())
		g.SetLimit(3)
		for i := range 20 {
			g.Go(func() error {
				if fails && i == 17 {
					return errors.New("failed")
				}
				select {
				case <-ctx.Done():
				case <-time.After(some(100 * time.Millisecond)):
				}
				return ctx.Err()
			})
		}
		g.Wait()
	})
}

// pipeline has stages that end one after the other when the source is closed.
func pipeline() {
	stage := func(in <-chan []int) <-chan []int {
		out := make(chan []int)
		go func() {
			defer close(out)
			for v := range in {
				out <- append([]int{len(v)}, v...)
			}
		}()
		return out
	}
	repeat(4, func() {
		source := make(chan []int)
		go func() {
			defer close(source)
			for i := range 1000 {
				source <- []int{i}
				if i%100 == 0 {
					time.Sleep(some(50 * time.Millisecond))
				}
			}
		}()
		at := (<-chan []int)(source)
		for range 30 {
			at = stage(at)
		}
		for range at {
		}
	})
}

// A queue is bounded by conditions.
type queue struct {
	mu              sync.Mutex
	filled, drained *sync.Cond
	items           list.List
}

// conditions are producers and consumers of queues, which only they know.
func conditions() {
	for range 10 {
		q := new(queue)
		q.filled, q.drained = sync.NewCond(&q.mu), sync.NewCond(&q.mu)
		repeat(3, func() {
			q.mu.Lock()
			for q.items.Len() == 0 {
				q.filled.Wait()
			}
			q.items.Remove(q.items.Front())
			q.drained.Signal()
			q.mu.Unlock()
		})
		repeat(1, func() {
			q.mu.Lock()
			for q.items.Len() > 4 {
				q.drained.Wait()
			}
			q.items.PushBack(new([10]int))
			q.filled.Signal()
			q.mu.Unlock()
			time.Sleep(some(20 * time.Millisecond))
		})
	}
}

// readers read a map that writers change. Some hold a lock while they wait for another one.
func readers() {
	var outer sync.RWMutex
	type shelf struct {
		sync.RWMutex
		books map[int]*[20]int
	}
	shelves := map[int]*shelf{}
	for i := range 5 {
		shelves[i] = &shelf{books: map[int]*[20]int{}}
	}
	repeat(20, func() {
		outer.RLock()
		s := shelves[rand.IntN(len(shelves))]
		s.RLock()
		_ = s.books[rand.IntN(100)]
		time.Sleep(some(time.Millisecond))
		s.RUnlock()
		outer.RUnlock()
	})
	repeat(1, func() {
		outer.Lock()
		s := shelves[rand.IntN(len(shelves))]
		s.Lock()
		s.books[rand.IntN(100)] = new([20]int)
		time.Sleep(some(2 * time.Millisecond))
		s.Unlock()
		outer.Unlock()
		time.Sleep(some(5 * time.Millisecond))
	})
}

// contexts are trees of requests. Each waits for its end: by a deadline, or since its parent ends.
func contexts() {
	var request func(ctx context.Context, depth int)
	request = func(ctx context.Context, depth int) {
		ctx, cancel := context.WithTimeout(ctx, some(4*time.Second))
		defer cancel()
		var below sync.WaitGroup
		if depth > 0 {
			for range 3 {
				below.Go(func() { request(ctx, depth-1) })
			}
		}
		answer := make(chan int)
		context.AfterFunc(ctx, func() { close(answer) })
		<-answer
		below.Wait()
	}
	repeat(5, func() { request(context.Background(), 3) })
}
