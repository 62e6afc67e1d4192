//go:build linux

// Moments knows at which times its goroutines were in which state, by its own clock. Its main goroutine computes in even
// and in odd, in turn. Before every tenth turn it wakes all sleepers: each of them is runnable until it gets a processor.
// All threads share one CPU, so that this takes a while.
//
// It prints the number of sleepers when it is ready. When it is asked to terminate, it prints what happened, with times of
// the system's monotonic clock in nanoseconds:
//
//	turn PARITY FROM UNTIL   from FROM until UNTIL it was in even (PARITY 0) or odd (1), or at their edges
//	runnable FROM UNTIL      from FROM until UNTIL a sleeper was runnable
package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	sleepers = 16
	most     = 1 << 18 // turns and rounds that are remembered
)

// A round is one time that the sleepers are woken.
type round struct {
	ready sync.WaitGroup // until all sleepers are about to sleep
	wake  chan struct{}
	woken int64           // when all were runnable
	ran   [sleepers]int64 // when each got a processor
	done  sync.WaitGroup  // until all have run
}

type turn struct{ from, until int64 }

func main() {
	runtime.GOMAXPROCS(2)
	shareCPU()
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	var next [sleepers]chan *round
	for i := range next {
		next[i] = make(chan *round, 1)
		go sleep(i, next[i])
	}
	fmt.Println(sleepers)
	var turns []turn
	var rounds []*round
	for len(end) == 0 && len(turns) < most {
		r := &round{wake: make(chan struct{})}
		r.ready.Add(sleepers)
		r.done.Add(sleepers)
		for i := range next {
			next[i] <- r
		}
		r.ready.Wait()
		close(r.wake)
		r.woken = now()
		for range 5 {
			turns = append(turns, take(even), take(odd))
		}
		r.done.Wait()
		rounds = append(rounds, r)
	}
	print(turns, rounds)
}

// shareCPU binds all threads to one CPU. Further threads inherit that.
func shareCPU() {
	var allowed, one unix.CPUSet
	unix.SchedGetaffinity(0, &allowed)
	for cpu := 0; one.Count() == 0; cpu++ {
		if allowed.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	threads, _ := os.ReadDir("/proc/self/task")
	for _, t := range threads {
		tid, _ := strconv.Atoi(t.Name())
		unix.SchedSetaffinity(tid, &one)
	}
}

func sleep(i int, next chan *round) {
	for r := range next {
		r.ready.Done()
		<-r.wake
		r.ran[i] = now()
		r.done.Done()
	}
}

func now() int64 {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

func take(compute func(n int) int) turn {
	from := now()
	compute(rand.IntN(500_000))
	return turn{from, now()}
}

//go:noinline
func even(n int) (x int) {
	for i := range n {
		x += i ^ x<<1
	}
	return x
}

//go:noinline
func odd(n int) (x int) {
	for i := range n {
		x -= i ^ x<<1
	}
	return x
}

func print(turns []turn, rounds []*round) {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for i, t := range turns {
		fmt.Fprintln(out, "turn", i%2, t.from, t.until)
	}
	for _, r := range rounds {
		for _, ran := range r.ran {
			fmt.Fprintln(out, "runnable", r.woken, ran)
		}
	}
}
