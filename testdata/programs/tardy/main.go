// Command tardy serves requests, a few of which wait for something that the others don't. It times all of
// them itself, and prints that when its input ends: a JSON object for each request.
//
// The argument says what the slow ones wait for: lock (which main.refresh holds), channel (that main.drain
// empties slowly), collector, processors (which others take), disk, sleep, two: a lock and a sleep, or none. -trace
// writes an execution trace of all the time, in which a request is the region "handle".
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/trace"
	"sync"
	"time"
)

var (
	rate      = flag.Int("rate", 200, "requests a second")
	usual     = flag.Duration("usual", 75*time.Millisecond, "how long a request takes that waits for nothing else")
	traceFile = flag.String("trace", "", "the file of an execution trace")
)

const (
	workers  = 64
	injected = 160 * time.Millisecond
	apart    = 400 * time.Millisecond // between two slow requests, at least
)

// A request is timed by itself: when it began, and how long it took in each of its parts.
type request struct {
	Begin int64            `json:"begin"` // Unix time in nanoseconds
	Took  int64            `json:"took"`
	Parts map[string]int64 `json:"parts"`
	slow  bool
}

var (
	mu     sync.Mutex
	turns  = make(chan chan bool, 1)
	full   = make(chan int, 1)
	file   *os.File
	heap   *node
	done   []*request
	doneMu sync.Mutex
)

// waits has what slow requests do: the name of the part, and the function.
var waits = map[string][]part{
	"lock":       {{"lock", takeLock}},
	"channel":    {{"channel", send}},
	"collector":  {{"collector", collect}},
	"processors": {{"processors", starve}},
	"disk":       {{"disk", fsync}},
	"sleep":      {{"sleep", retry}},
	"two":        {{"lock", takeLock}, {"sleep", retry}},
	"none":       nil,
}

type part struct {
	name string
	do   func()
}

func main() {
	flag.Parse()
	slow, ok := waits[flag.Arg(0)]
	if !ok {
		fail(fmt.Errorf("unknown wait %q", flag.Arg(0)))
	}
	var err error
	if file, err = os.CreateTemp("", "tardy"); err != nil {
		fail(err)
	}
	os.Remove(file.Name())
	if flag.Arg(0) == "collector" {
		for range 1 << 21 {
			heap = &node{next: heap}
		}
	}
	if *traceFile != "" {
		to, err := os.Create(*traceFile)
		if err == nil {
			err = trace.Start(to)
		}
		if err != nil {
			fail(err)
		}
	}
	jobs := make(chan *request, 1000)
	for range workers {
		go work(jobs, slow)
	}
	go refresh()
	go drain()
	go arrive(jobs)
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	trace.Stop()
	out := bufio.NewWriter(os.Stdout)
	doneMu.Lock()
	for _, r := range done {
		json.NewEncoder(out).Encode(r)
	}
	out.Flush()
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "tardy:", err)
	os.Exit(1)
}

// arrive sends requests at random times.
func arrive(jobs chan<- *request) {
	next, slow := time.Now(), time.Now()
	for {
		next = next.Add(time.Duration(rand.ExpFloat64() * float64(time.Second) / float64(*rate)))
		time.Sleep(time.Until(next))
		r := &request{slow: next.Sub(slow) > apart}
		if r.slow {
			slow = next
		}
		jobs <- r
	}
}

//go:noinline
func work(jobs <-chan *request, slow []part) {
	for r := range jobs {
		trace.WithRegion(context.Background(), "handle", func() { handle(r, slow) })
		doneMu.Lock()
		done = append(done, r)
		doneMu.Unlock()
	}
}

//go:noinline
func handle(r *request, slow []part) {
	begin := time.Now()
	r.Begin, r.Parts = begin.UnixNano(), make(map[string]int64)
	r.part("compute", compute)
	if *usual > 0 {
		r.part("ask", ask)
	}
	if r.slow {
		for _, p := range slow {
			r.part(p.name, p.do)
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
func compute() { burn(200 * time.Microsecond) }

// burn computes for some time, whether it has a processor or not.
func burn(d time.Duration) {
	x := uint64(1)
	for begin := time.Now(); time.Since(begin) < d; {
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
func ask() { time.Sleep(*usual*2/3 + rand.N(*usual*2/3)) }

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
	for range 4 {
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

type node struct {
	next *node
	_    [6]uintptr
}

// collect waits for whole collections of the heap.
//
//go:noinline
func collect() {
	for begin := time.Now(); time.Since(begin) < injected; {
		runtime.GC()
	}
}

// starve computes while others take the processors.
//
//go:noinline
func starve() {
	for range 4 * runtime.GOMAXPROCS(0) {
		go take()
	}
	for begin := time.Now(); time.Since(begin) < injected; {
		runtime.Gosched()
	}
}

//go:noinline
func take() { burn(injected) }
