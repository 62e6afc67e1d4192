// Target is the program that the benchmark of halts samples.
// Some goroutines compute, send values back and forth, and
// compete for one mutex; many others are parked. With -profile,
// it observes itself.
//
// It prints "ready" when all goroutines run. For each line that
// it reads, it prints the number of operations done so far.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	parked  = flag.Int("parked", 10, "parked goroutines, 25 frames deep")
	threads = flag.Int("threads", 0, "threads asleep in system calls")
	churn   = flag.Int("churn", 0, "threads that come and go: each lives for 20 ms")
	wake    = flag.Int("wake", 0, "parked goroutines to wake every 10 ms")
	work    = flag.Bool("work", true, "compute, pass values, want a mutex")
	profile = flag.String("profile", "", "how to observe itself")
)

var (
	count    atomic.Int64
	sleepers atomic.Int64
	mutex    sync.Mutex
)

func main() {
	flag.Parse()
	var started sync.WaitGroup
	wakes := make(chan int)
	for range *parked {
		started.Add(1)
		go park(25, &started, wakes)
	}
	for range *threads {
		go sleep()
	}
	for range *churn {
		go replaceThreads()
	}
	started.Wait()
	for sleepers.Load() < int64(*threads) {
		time.Sleep(time.Millisecond)
	}
	if *work {
		go compute()
		a, b := make(chan int), make(chan int)
		go pass(a, b)
		go pass(b, a)
		a <- 1
		for range 2 {
			go lock()
		}
	}
	if *wake > 0 {
		go rouse(wakes)
	}
	if *profile != "" {
		go observe(profiles[*profile])
	}
	fmt.Println("ready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println(count.Load())
	}
}

//go:noinline
func park(depth int, started *sync.WaitGroup, wakes chan int) int {
	if depth > 1 {
		return park(depth-1, started, wakes) + 1
	}
	started.Done()
	for range wakes {
	}
	return 0
}

func rouse(wakes chan int) {
	for t := time.NewTicker(10 * time.Millisecond); ; <-t.C {
		for range *wake {
			wakes <- 1
		}
	}
}

func sleep() {
	var p [2]int
	syscall.Pipe(p[:])
	sleepers.Add(1)
	syscall.Read(p[0], make([]byte, 1))
}

// replaceThreads starts a thread, waits for its end, and starts
// the next one.
func replaceThreads() {
	for ended := make(chan bool); ; <-ended {
		go func() {
			runtime.LockOSThread() // the thread ends with its goroutine
			d := syscall.NsecToTimespec(20e6)
			syscall.Nanosleep(&d, nil)
			ended <- true
		}()
	}
}

//go:noinline
func fibonacci(n int) int {
	if n < 2 {
		return n
	}
	return fibonacci(n-1) + fibonacci(n-2)
}

func compute() {
	for {
		fibonacci(15)
		count.Add(1)
	}
}

func pass(from, to chan int) {
	for v := range from {
		fibonacci(15)
		count.Add(1)
		to <- v
	}
}

func lock() {
	for {
		mutex.Lock()
		fibonacci(15)
		mutex.Unlock()
		count.Add(1)
	}
}
