//go:build linux

package main

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Short lives: 100,000 goroutines a second, some of which wait.
func shortLived() {
	start(2, spawner)
	go napSpawner()
}

func spawner() {
	var wg sync.WaitGroup
	for {
		for range 50 {
			wg.Add(1)
			go shortLife(&wg)
		}
		wg.Wait()
		time.Sleep(500 * time.Microsecond)
	}
}

func shortLife(wg *sync.WaitGroup) {
	spin(2000)
	wg.Done()
}

func napSpawner() {
	for {
		start(10, napper)
		time.Sleep(time.Millisecond)
	}
}

func napper() { time.Sleep(2 * time.Millisecond) }

// Channels.
func pipeline() {
	a, b, c := make(chan int), make(chan int, 16), make(chan int)
	go source(a)
	for range 3 {
		go stage(a, b)
	}
	go slowStage(b, c)
	go drain(c)
}

func source(out chan<- int) {
	for i := 0; ; i++ {
		out <- i
	}
}

func stage(in <-chan int, out chan<- int) {
	for i := range in {
		out <- i + spin(20000)
	}
}

func slowStage(in <-chan int, out chan<- int) {
	for i := range in {
		if i%50 == 0 {
			time.Sleep(2 * time.Millisecond)
		}
		out <- i + spin(10000)
	}
}

func drain(in <-chan int) {
	for range in {
	}
}

// Goroutines with a thread of their own.
func locked() {
	a, b := make(chan int), make(chan int)
	go lockedPing(a, b)
	go lockedPong(a, b)
	go lockedBurner()
	go lockedSleeper()
}

func lockedPing(a, b chan int) {
	runtime.LockOSThread()
	for {
		a <- spin(10000)
		<-b
	}
}

func lockedPong(a, b chan int) {
	runtime.LockOSThread()
	for {
		<-a
		b <- spin(30000)
	}
}

func lockedBurner() {
	runtime.LockOSThread()
	for {
		spinFor(2 * time.Millisecond)
		time.Sleep(time.Millisecond)
	}
}

func lockedSleeper() {
	runtime.LockOSThread()
	for {
		time.Sleep(3 * time.Millisecond)
		spinFor(200 * time.Microsecond)
	}
}

// Bursts: for 100 ms of each 400 ms, 3000 goroutines exchange
// messages, which makes samples expensive.
func burst() {
	for range 1500 {
		c := make(chan int)
		go burstGiver(c)
		go burstTaker(c)
	}
}

func bursting() bool { return time.Now().UnixMilli()%400 < 100 }

func burstGiver(c chan int) {
	for {
		for bursting() {
			c <- 1
		}
		time.Sleep(time.Duration(400-time.Now().UnixMilli()%400) * time.Millisecond)
	}
}

func burstTaker(c chan int) {
	for range c {
		spin(200)
	}
}

// Many goroutines that wait, and two that don't.
func many() {
	c := make(chan int)
	for range 20000 {
		go parked(c)
	}
	start(2, halfBusy)
}

func parked(c chan int) { <-c }

func halfBusy() {
	for {
		spinFor(500 * time.Microsecond)
		time.Sleep(500 * time.Microsecond)
	}
}

// Garbage: assists, marking, stopped worlds.
func gcHeavy() {
	debug.SetGCPercent(60)
	for i := range forest {
		forest[i] = grow(15)
		go allocator(i)
	}
	go gcSleeper()
}

type treeNode struct{ l, r *treeNode }

func grow(d int) *treeNode {
	if d == 0 {
		return &treeNode{}
	}
	return &treeNode{grow(d - 1), grow(d - 1)}
}

var forest [4]*treeNode

func allocator(i int) {
	for {
		forest[i] = grow(14)
	}
}

func gcSleeper() {
	for {
		time.Sleep(time.Millisecond)
		spin(20000)
	}
}
