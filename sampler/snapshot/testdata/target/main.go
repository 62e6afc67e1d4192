// Target is what the tests and benchmarks of the snapshot backend sample: goroutines in every state, as many as asked for.
//
// It is written for Go 1.21, with which it is built, too. It prints "ready" when all of it runs, and a dump of its goroutines for each line that it reads.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	parked  = flag.Int("parked", 10, "goroutines parked for good")
	depth   = flag.Int("depth", 25, "frames of each of them")
	threads = flag.Int("threads", 0, "threads asleep in system calls")
	busy    = flag.Int("busy", 0, "goroutines that compute")
	pairs   = flag.Int("pairs", 0, "pairs of goroutines that pass a value to and fro")
	lockers = flag.Int("lockers", 0, "goroutines that want one mutex")
	short   = flag.Int("short", 0, "goroutines that make short-lived ones all the time")
	garbage = flag.Bool("garbage", false, "keep the collector at work")
	held    = flag.Int("held", 0, "goroutines that wait for a mutex that is never unlocked")
)

var (
	count atomic.Int64
	mutex sync.Mutex
	stuck sync.Mutex
)

func main() {
	flag.Parse()
	forever := make(chan int)
	var started sync.WaitGroup
	for i := 0; i < *parked; i++ {
		started.Add(1)
		go park(i, *depth, &started, forever)
	}
	for i := 0; i < *threads; i++ {
		go read()
	}
	for i := 0; i < *busy; i++ {
		go compute()
	}
	for i := 0; i < *lockers; i++ {
		go lock()
	}
	for i := 0; i < *short; i++ {
		go spawn()
	}
	if *garbage {
		go waste()
	}
	stuck.Lock()
	for i := 0; i < *held; i++ {
		go func() { stuck.Lock() }()
	}
	go pprof.Do(context.Background(), pprof.Labels("route", "/api", "user", "ann"), func(context.Context) { <-forever })
	started.Wait()
	for *threads > 0 && sleepers.Load() < int64(*threads) {
		time.Sleep(time.Millisecond)
	}
	for i := 0; i < *pairs; i++ { // last, and without waiting for them: they leave little time to others
		a, b := make(chan int), make(chan int)
		go pass(a, b)
		go pass(b, a)
		go begin(a)
	}
	fmt.Printf("ready %p\n", &stuck)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "dump":
			dump()
		case "sleep":
			go sleeper()
		case "wake":
			wakes <- true
		}
	}
}

var wakes = make(chan bool)

// sleeper says each time that it is awake.
func sleeper() {
	for {
		fmt.Println("awake")
		<-wakes
	}
}

func dump() {
	b := make([]byte, 64<<20)
	b = b[:runtime.Stack(b, true)]
	fmt.Printf("dump %d\n%s\n", len(b), b)
}

//go:noinline
func park(i, depth int, started *sync.WaitGroup, forever chan int) int {
	if depth > 1 {
		return park(i+1, depth-1, started, forever) + 1
	}
	started.Done()
	return <-forever
}

var sleepers atomic.Int64

func read() {
	var p [2]int
	syscall.Pipe(p[:])
	sleepers.Add(1)
	syscall.Read(p[0], make([]byte, 1))
}

func compute() {
	for {
		count.Add(int64(fibonacci(20)) & 1)
	}
}

//go:noinline
func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

func pass(a, b chan int) {
	for v := range a {
		count.Add(1)
		b <- v
	}
}

func begin(a chan int) { a <- 1 }

func lock() {
	for {
		mutex.Lock()
		fibonacci(15)
		mutex.Unlock()
		count.Add(1)
	}
}

func spawn() {
	for {
		var wg sync.WaitGroup
		for i := 0; i < 10; i++ {
			wg.Add(1)
			go leaf(&wg)
		}
		wg.Wait()
		count.Add(1)
	}
}

func leaf(wg *sync.WaitGroup) {
	fibonacci(10)
	wg.Done()
}

var heap [][]byte

func waste() {
	for {
		heap = append(heap, make([]byte, 1<<16))
		if len(heap) > 1000 {
			heap = nil
		}
	}
}
