// Command tardy serves requests, a few of which wait for something that the others don't. It times all of
// them itself, and prints that when its input ends: a JSON object for each request.
//
// The argument says what the slow ones wait for: lock (which main.refresh holds), channel (that main.drain
// empties slowly), sleep, disk, or two: a lock and a sleep.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

const (
	requests = 100 // a second
	workers  = 64
	usual    = 60 * time.Millisecond // of a request that waits for nothing else
	injected = 200 * time.Millisecond
	every    = 50 // requests have one that is slow
)

// A request is timed by itself: when it began, and how long it took in each of its parts.
type request struct {
	Begin int64            `json:"begin"` // Unix time in nanoseconds
	Took  int64            `json:"took"`
	Parts map[string]int64 `json:"parts"`
	slow  bool
}

var (
	mu      sync.Mutex
	turns   = make(chan chan bool, 1)
	full    = make(chan int, 1)
	file    *os.File
	done    []*request
	doneMu  sync.Mutex
	waitFor = "lock"
)

func main() {
	if len(os.Args) > 1 {
		waitFor = os.Args[1]
	}
	var err error
	if file, err = os.CreateTemp("", "tardy"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Remove(file.Name())
	jobs := make(chan *request, 1000)
	for range workers {
		go work(jobs)
	}
	go refresh()
	go drain()
	go arrive(jobs)
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	out := bufio.NewWriter(os.Stdout)
	doneMu.Lock()
	for _, r := range done {
		json.NewEncoder(out).Encode(r)
	}
	out.Flush()
}

// arrive sends requests at random times.
func arrive(jobs chan<- *request) {
	next := time.Now()
	for i := 0; ; i++ {
		next = next.Add(time.Duration(rand.ExpFloat64() * float64(time.Second) / requests))
		time.Sleep(time.Until(next))
		jobs <- &request{slow: i%every == 0}
	}
}

//go:noinline
func work(jobs <-chan *request) {
	for r := range jobs {
		handle(r)
		doneMu.Lock()
		done = append(done, r)
		doneMu.Unlock()
	}
}

//go:noinline
func handle(r *request) {
	begin := time.Now()
	r.Begin, r.Parts = begin.UnixNano(), make(map[string]int64)
	r.part("compute", compute)
	r.part("ask", ask)
	if r.slow {
		switch waitFor {
		case "lock":
			r.part("lock", takeLock)
		case "channel":
			r.part("channel", send)
		case "sleep":
			r.part("sleep", retry)
		case "disk":
			r.part("disk", fsync)
		case "two":
			r.part("lock", takeLock)
			r.part("sleep", retry)
		}
	}
	r.Took = int64(time.Since(begin))
}

func (r *request) part(name string, f func()) {
	begin := time.Now()
	f()
	r.Parts[name] += int64(time.Since(begin))
}

//go:noinline
func compute() {
	x := uint64(1)
	for begin := time.Now(); time.Since(begin) < time.Millisecond; {
		for range 1000 {
			x = x*6364136223846793005 + 1
		}
	}
	if x == 0 {
		fmt.Println(x)
	}
}

// ask is what all requests do.
//
//go:noinline
func ask() { time.Sleep(usual/2 + rand.N(usual)) }

// takeLock asks refresh to hold the lock, and takes it after that.
//
//go:noinline
func takeLock() {
	held := make(chan bool)
	turns <- held
	<-held
	mu.Lock()
	defer mu.Unlock()
}

//go:noinline
func refresh() {
	for held := range turns {
		mu.Lock()
		close(held)
		reload()
		mu.Unlock()
	}
}

//go:noinline
func reload() { time.Sleep(injected) }

//go:noinline
func send() {
	for range 2 {
		full <- 1
	}
}

//go:noinline
func drain() {
	for range full {
		time.Sleep(injected / 2)
	}
}

//go:noinline
func retry() { time.Sleep(injected) }

// fsync writes to the disk for some time.
//
//go:noinline
func fsync() {
	for begin := time.Now(); time.Since(begin) < injected; {
		file.WriteAt(make([]byte, 1<<16), 0)
		file.Sync()
	}
}
