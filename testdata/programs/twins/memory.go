package main

import (
	"runtime"
	"strconv"
	"sync"
	"time"
	"unique"
	"weak"
)

// A parcel is what a goroutine waits for.
type parcel struct {
	c    chan int
	rest [8]*int
}

// await starts a goroutine that waits for a parcel, and works on.
func await(c chan int) {
	go func() {
		<-c
		time.Sleep(some(10 * time.Millisecond))
	}()
}

// again calls a function at random times, and lets the garbage be collected meanwhile.
func again(n int, pause time.Duration, f func()) {
	repeat(n, func() {
		f()
		time.Sleep(some(pause))
	})
	repeat(1, func() {
		time.Sleep(some(time.Second))
		runtime.GC()
	})
}

// pool keeps buffers in a sync.Pool. A goroutine waits for each that it has; who takes it out
// sends to it. What the collector drops there is closed by its finalizer.
func pool() {
	var kept sync.Pool
	again(8, 20*time.Millisecond, func() {
		if p, ok := kept.Get().(*parcel); ok {
			runtime.SetFinalizer(p, nil)
			p.c <- 1
		}
		p := &parcel{c: make(chan int)}
		runtime.SetFinalizer(p, func(p *parcel) { close(p.c) })
		await(p.c)
		kept.Put(p)
	})
}

// finalizers wake goroutines whose parcels nobody needs any more; so do cleanups.
func finalizers() {
	again(4, 50*time.Millisecond, func() {
		p := &parcel{c: make(chan int)}
		runtime.SetFinalizer(p, func(p *parcel) { close(p.c) })
		await(p.c)
		c := make(chan int)
		runtime.AddCleanup(&parcel{}, func(c chan int) { close(c) }, c)
		await(c)
	})
}

// weakPointers are a cache's. Goroutines wait for parcels that they keep themselves.
func weakPointers() {
	var mu sync.Mutex
	cache := map[int]weak.Pointer[parcel]{}
	n := 0
	again(4, 20*time.Millisecond, func() {
		p := &parcel{c: make(chan int)}
		go func() {
			<-p.c
			runtime.KeepAlive(p)
		}()
		mu.Lock()
		n++
		cache[n] = weak.Make(p)
		old := cache[n-100]
		delete(cache, n-100)
		mu.Unlock()
		if p := old.Value(); p != nil {
			p.c <- 1
		}
	})
}

// handles are unique ones of channels.
func handles() {
	type key struct {
		name string
		c    chan int
	}
	kept := make(chan unique.Handle[key], 100)
	n := 0
	again(1, 20*time.Millisecond, func() {
		n++
		k := key{strconv.Itoa(n), make(chan int)}
		await(k.c)
		select {
		case kept <- unique.Make(k):
		default:
			(<-kept).Value().c <- 1
			kept <- unique.Make(k)
		}
	})
}
