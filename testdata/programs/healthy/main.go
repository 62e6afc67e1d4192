// Healthy has a goroutine for each way in which one that waits can be woken through something that
// is easy to overlook. A line on its standard input wakes all of them, and the program says so:
// none was stuck.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A box has what a goroutine waits for.
type box struct {
	c    chan int
	mu   sync.Mutex
	cond *sync.Cond
	rest [3]*int
}

func newBox() *box { return &box{c: make(chan int)} }

var (
	wakers  []func() // closures here must reach nothing that only a way should reach
	ways    []func()
	waiting sync.WaitGroup
	asleep  = map[string]*atomic.Bool{}
)

// sleep starts a goroutine that waits.
//
//go:noinline
func sleep(name string, wait func()) {
	awake := new(atomic.Bool)
	asleep[name] = awake
	waiting.Add(1)
	go func() {
		defer waiting.Done()
		wait()
		awake.Store(true)
	}()
}

// awaited starts a goroutine that waits for a new box, and returns it.
//
//go:noinline
func awaited(name string) *box {
	b := newBox()
	sleep(name, func() { <-b.c })
	return b
}

// wake adds what wakes such a goroutine.
func wake(f func()) { wakers = append(wakers, f) }

// way adds a way: a function of its own, so that nothing stays on the stack of main.
func way(f func()) { ways = append(ways, f) }

// soon is when timers wake what waits for them: after the command, or by themselves.
var soon = 4 * time.Second

//go:noinline
func wipe(n int) int {
	var a [200]int
	if n == 0 {
		return 0
	}
	return wipe(n-1) + a[n]
}

func main() {
	if len(os.Args) > 1 {
		soon, _ = time.ParseDuration(os.Args[1])
	}
	for _, f := range ways {
		f()
	}
	time.Sleep(100 * time.Millisecond)
	wipe(100)
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	for _, f := range wakers {
		go f()
		time.Sleep(time.Millisecond)
	}
	awake := make(chan bool)
	go func() {
		waiting.Wait()
		close(awake)
	}()
	for range 200 {
		select {
		case <-awake:
			fmt.Println("all", len(asleep), "are awake")
			return
		case <-time.After(soon/100 + 20*time.Millisecond):
			runtime.GC()
		}
	}
	for name, awake := range asleep {
		if !awake.Load() {
			fmt.Println("did not wake:", name)
		}
	}
}
