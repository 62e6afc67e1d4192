// Target is sampled by tests. It parks goroutines in many ways, keeps its processors busy in others, and prints its
// own stacks for each line that it reads.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
)

var (
	never = make(chan int)
	mu    sync.Mutex
	cond  = sync.NewCond(&sync.Mutex{})
	sink  any
)

type worker struct{ depth int }

func (w *worker) descend(n int) int {
	if n == 0 {
		return receive()
	}
	return w.descend(n-1) + n
}

func receive() int { return <-never }

func inlined(f func()) { inner(f) }

func inner(f func()) { f() }

type waiter interface{ wait() }

type embedded struct{ worker }

func (w worker) wait() { w.descend(w.depth) }

func generic[T any](v T, c chan T) T {
	select {
	case got := <-c:
		return got
	case c <- v:
		return v
	}
}

func park() {
	mu.Lock()
	start := []func(){
		func() { (&worker{}).descend(25) },
		func() { inlined(func() { <-never }) },
		func() { var w waiter = embedded{worker{3}}; w.wait() },
		func() { generic(1, (chan int)(nil)) },
		func() { generic("a", (chan string)(nil)) },
		func() { mu.Lock() },
		func() { cond.L.Lock(); cond.Wait() },
		func() { time.Sleep(time.Hour) },
		func() { defer func() { <-never }(); panic("deferred") },
		func() { select {} },
		func() { (&worker{}).descend(300) },
		func() { var m map[string]int; defer func() { <-never }(); m["a"] = 1 },
		func() { var p *worker; defer func() { <-never }(); p.depth = 1 },
		func() { sort.Slice([]int{2, 1}, func(i, j int) bool { <-never; return i < j }) },
		func() {
			var fds [2]int
			if err := syscall.Pipe(fds[:]); err != nil {
				panic(err)
			}
			var b [1]byte
			syscall.Read(fds[0], b[:])
		},
	}
	for _, f := range start {
		go f()
	}
}

func fault() {
	defer func() { recover() }()
	var w *worker
	w.depth++
}

//go:noinline
func grow(n int) int {
	var pad [256]byte
	if n == 0 {
		return int(pad[0])
	}
	return grow(n-1) + int(pad[n%256])
}

func busy() {
	c := make(chan int)
	work := []func(){
		func() { time.Now() },
		func() { sink = make([]byte, 4096) },
		fault,
		func() { done := make(chan int); go func() { done <- grow(100) }(); <-done },
		func() { syscall.Getppid() },
		func() { c <- 1 },
		func() { runtime.Gosched() },
		func() {
			m := map[int]int{}
			for i := 0; i < 100; i++ {
				m[i] = i
			}
			sink = m
		},
	}
	go func() {
		for range c {
		}
	}()
	for _, f := range work {
		go func(f func()) {
			for {
				f()
			}
		}(f)
	}
}

func main() {
	park()
	for settled := false; !settled; time.Sleep(time.Millisecond) {
		_, others, _ := strings.Cut(stacks(), "\n\n") // the first is this goroutine, which runs
		settled = !strings.Contains(others, " [run")  // running or runnable
	}
	if len(os.Args) > 1 {
		busy()
	}
	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready")
	for {
		if _, err := in.ReadString('\n'); err != nil {
			return
		}
		os.Stdout.WriteString(stacks() + "\nend\n")
	}
}

func stacks() string {
	b := make([]byte, 4<<20)
	return string(b[:runtime.Stack(b, true)])
}
