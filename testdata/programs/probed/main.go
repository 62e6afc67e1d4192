// Command probed calls functions whose calls it counts and times itself. It prints its pid, waits for a line, does what its first
// argument says, prints what it knows of it, and waits for another line.
//
//	probed count N     calls tick N times, while stacks grow and goroutines are preempted
//	probed time N      calls work N times, each 200 µs or longer
//	probed paced N     likewise, with a sleep after each call: it hardly computes
//	probed fast        calls tick about 1,000,000 times a second, sleeps in between, and prints what it has done in each second
//	probed busy        likewise, but computes in between: it is as fast as the processor
//	probed panics N    calls fails N times, half of which panic
//	probed recursive N calls descend N times, to a depth of 5
//	probed tree N W    calls branch N times, which calls itself to a depth of 6, and computes for W ns each time
//	probed goexit N    calls leaves N times on goroutines of their own, half of which runtime.Goexit ends
//	probed exec N      calls tick N times, and becomes "probed count N" after another line
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func main() {
	in := bufio.NewReader(os.Stdin)
	fmt.Println("pid", os.Getpid())
	n := 0
	if len(os.Args) > 2 {
		n, _ = strconv.Atoi(os.Args[2])
	}
	wait(in)
	switch os.Args[1] {
	case "count":
		count(n)
	case "time":
		timed(n, 0)
	case "paced":
		timed(n, 2*time.Millisecond)
	case "fast":
		fast(sleepUntil)
	case "busy":
		fast(compute)
	case "panics":
		panics(n)
	case "recursive":
		for range n {
			descend(0)
		}
		fmt.Println("calls", 5*n)
	case "tree":
		work, _ := strconv.Atoi(os.Args[3])
		tree(n, work)
	case "goexit":
		goexit(n)
	case "exec":
		deeper(0, n)
		fmt.Println("calls", n)
		wait(in)
		path, err := os.Executable()
		if err == nil {
			err = syscall.Exec(path, []string{path, "count", os.Args[2]}, os.Environ())
		}
		fmt.Println(err)
	}
	wait(in)
}

func wait(in *bufio.Reader) {
	if _, err := in.ReadString('\n'); err != nil {
		os.Exit(0)
	}
}

var sink atomic.Int64

// tick is what is counted. Its frame is large enough that stacks often have to grow for it.
//
//go:noinline
func tick(n int) int {
	var room [200]byte
	room[n%len(room)] = byte(n)
	return leaf(n) + int(room[n/2%len(room)])
}

// leaf has no frame.
//
//go:noinline
func leaf(n int) int { return 3 * n }

// count calls tick from goroutines whose stacks are new and therefore small, and which are often preempted.
func count(n int) {
	stop := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				runtime.GC() // shrinks stacks, and preempts everybody
			}
		}
	}()
	const workers, each = 4, 500
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for {
				take := min(int64(each), left.Add(-each)+each)
				if take <= 0 {
					return
				}
				var one sync.WaitGroup
				one.Go(func() { deeper(int(take)%40, int(take)) })
				one.Wait()
			}
		})
	}
	all.Wait()
	close(stop)
	fmt.Println("calls", n)
}

// deeper calls tick with a stack of a certain depth.
//
//go:noinline
func deeper(depth, calls int) {
	if depth > 0 {
		deeper(depth-1, calls)
		return
	}
	for i := range calls {
		sink.Add(int64(tick(i)))
	}
}

// timed calls work, and prints how long each call took by its own clock, in nanoseconds.
func timed(n int, pause time.Duration) {
	times := make([][]byte, 3)
	var all sync.WaitGroup
	for worker := range times {
		all.Go(func() {
			for i := range n / 3 {
				took := work(worker, i)
				time.Sleep(pause)
				times[worker] = strconv.AppendInt(append(times[worker], ','), int64(took), 10)
			}
		})
	}
	all.Wait()
	fmt.Printf("ns %s\n", bytes.Join(times, nil)[1:])
}

// work takes 200 µs or longer, and returns how long. It sometimes sleeps, and goes on on another thread.
//
//go:noinline
func work(worker, i int) time.Duration {
	began := time.Now()
	if i%3 == worker%3 {
		time.Sleep(300 * time.Microsecond)
		return time.Since(began)
	}
	for time.Since(began) < 200*time.Microsecond {
		sink.Add(1)
	}
	return time.Since(began)
}

// fast calls tick, and passes the rest of each millisecond with between. Each second, it prints the number of its calls, the time since it
// began, and the CPU time that it has used.
func fast(between func(calls int, began time.Time)) {
	began, calls := time.Now(), 0
	for second := 1; ; {
		for range 1000 {
			sink.Add(int64(tick(calls)))
			calls++
		}
		between(calls, began)
		if since := time.Since(began); since > time.Duration(second)*time.Second {
			fmt.Println("calls", calls, since.Nanoseconds(), cpuTime().Nanoseconds())
			second++
		}
	}
}

// sleepUntil sleeps so that there are at most 1,000,000 calls a second.
func sleepUntil(calls int, began time.Time) {
	if ahead := time.Duration(calls)*time.Microsecond - time.Since(began); ahead > time.Millisecond {
		time.Sleep(ahead)
	}
}

// compute computes for about a millisecond, always the same.
func compute(int, time.Time) {
	x := uint64(1)
	for range 600_000 {
		x = x*6364136223846793005 + 1442695040888963407
	}
	sink.Add(int64(x))
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func panics(n int) {
	for i := range n {
		func() {
			defer func() { _ = recover() }()
			fails(i)
		}()
	}
	fmt.Println("calls", n)
}

//go:noinline
func fails(i int) int {
	if i%2 == 1 {
		panic("odd")
	}
	return tick(i)
}

//go:noinline
func descend(depth int) int {
	if depth == 4 {
		time.Sleep(time.Millisecond)
		return 0
	}
	return descend(depth+1) + 1
}

// tree calls branch, and prints how long each call took by its own clock, in nanoseconds.
func tree(n, nanoseconds int) {
	times := make([]byte, 0, 16*n)
	for range n {
		began := time.Now()
		sink.Add(int64(branch(6, nanoseconds)))
		times = strconv.AppendInt(append(times, ','), time.Since(began).Nanoseconds(), 10)
	}
	fmt.Printf("ns %s\n", times[1:])
}

// branch calls itself twice.
//
//go:noinline
func branch(depth, nanoseconds int) int {
	x := uint64(depth)
	for range nanoseconds {
		x = x*6364136223846793005 + 1442695040888963407
	}
	if depth == 0 {
		return int(x & 1)
	}
	return branch(depth-1, nanoseconds) + branch(depth-1, nanoseconds)
}

// goexit prints how many calls have returned.
func goexit(n int) {
	for i := range n {
		done := make(chan bool)
		go func() {
			defer close(done)
			leaves(i)
		}()
		<-done
	}
	fmt.Println("calls", n/2)
}

//go:noinline
func leaves(i int) int {
	if i%2 == 1 {
		runtime.Goexit()
	}
	return tick(i)
}
