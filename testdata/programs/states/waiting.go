package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// deep: a goroutine 300 calls deep, and one 3,000 calls deep.
func deep() {
	var ready sync.WaitGroup
	ready.Add(2)
	go shallow(&ready)
	go abyss(&ready)
	ready.Wait()
}

func shallow(ready *sync.WaitGroup) { descend(300, ready) }

func abyss(ready *sync.WaitGroup) { descend(3000, ready) }

//go:noinline
func descend(n int, ready *sync.WaitGroup) int {
	if n == 1 {
		ready.Done()
		select {}
	}
	return descend(n-1, ready) + n
}

// parked: as many goroutines as the second argument says, parked 25 calls deep.
func parked() {
	n, err := strconv.Atoi(os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	var ready sync.WaitGroup
	ready.Add(n)
	for range n {
		go worker(&ready)
	}
	ready.Wait()
}

func worker(ready *sync.WaitGroup) { descend(25, ready) }

// labels: goroutines with pprof labels, a child that inherits a label, and a goroutine without labels.
func labels() {
	ready := make(chan bool)
	for _, route := range []string{"/api", "/static"} {
		go pprof.Do(context.Background(), pprof.Labels("route", route, "method", "GET"), func(context.Context) {
			labelled(ready)
		})
	}
	go pprof.Do(context.Background(), pprof.Labels("route", "/parent"), func(context.Context) {
		go child(ready)
		<-make(chan bool)
	})
	go plain(ready)
	for range 4 {
		<-ready
	}
}

//go:noinline
func labelled(ready chan bool) {
	ready <- true
	select {}
}

func child(ready chan bool) {
	ready <- true
	select {}
}

func plain(ready chan bool) {
	ready <- true
	select {}
}

var mu sync.Mutex

// slowcall has a goroutine that holds a lock while it is in a system call that does not end, and another one that
// waits for the lock.
func slowcall() {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		panic(err)
	}
	held := make(chan bool)
	go hold(held, ends[0])
	<-held
	go wait()
}

//go:noinline
func hold(held chan<- bool, from int) {
	mu.Lock()
	defer mu.Unlock()
	held <- true
	syscall.Read(from, make([]byte, 1))
}

//go:noinline
func wait() {
	mu.Lock()
	defer mu.Unlock()
}

// timers has goroutines that wait for timers. Its functions are named after what ends their waits.
func timers() {
	never, signals := make(chan struct{}), make(chan struct{})
	go timer(never)
	go ticker(never)
	go only()
	go signal(signals)
	go func() {
		for {
			time.Sleep(60 * time.Millisecond)
			signals <- struct{}{}
		}
	}()
}

func timer(stop chan struct{}) {
	for {
		select {
		case <-time.After(120 * time.Millisecond):
		case <-stop:
			return
		}
	}
}

func ticker(stop chan struct{}) {
	t := time.NewTicker(90 * time.Millisecond)
	for {
		select {
		case <-stop:
			return
		case <-t.C:
		}
	}
}

func only() {
	for range time.NewTicker(70 * time.Millisecond).C {
	}
}

func signal(signals chan struct{}) {
	for {
		select {
		case <-time.After(150 * time.Millisecond):
		case <-signals:
		}
	}
}
