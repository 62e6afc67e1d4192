// Effects has programs with a cost whose effect is known: the first argument names the program, the second one what is left of
// the cost ("half", "none"). In the closed programs workers begin with the next piece of work as soon as one is done; in the open
// ones pieces arrive at random. Every half second it prints how many pieces are done, how long they took, and since when it runs.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A program says what a piece of work needs.
type program struct {
	workers int
	rate    float64       // arrivals a second; closed if 0
	compute time.Duration // of CPU
	encode  time.Duration // of CPU, too
	update  time.Duration // of CPU, under the lock
	disk    time.Duration // of waiting, under the lock
	backend time.Duration // of waiting
	tokens  int           // if there are some, a piece of work needs one
	query   time.Duration // of waiting, with a token
	think   time.Duration // between two pieces
}

const us, ms = time.Microsecond, time.Millisecond

var programs = map[string]struct {
	program
	cost func(*program) *time.Duration // the one whose effect is known
}{
	"lock-compute": {program{workers: 8, update: ms, compute: ms, backend: 4 * ms}, update},
	"lock-io":      {program{workers: 16, disk: 2 * ms, backend: 4 * ms, compute: 100 * us}, disk},
	"compute":      {program{workers: 8, compute: 3 * ms, encode: ms, backend: 2 * ms}, compute},
	"other-lock":   {program{workers: 8, disk: 3 * ms, compute: ms, backend: 2 * ms}, compute},
	"io":           {program{workers: 4, backend: 6 * ms, compute: 500 * us}, backend},
	"pool":         {program{workers: 32, tokens: 4, query: 4 * ms, backend: 3 * ms, compute: 50 * us}, query},
	"shift":        {program{workers: 16, update: ms, compute: 800 * us, backend: 2 * ms}, update},
	"think":        {program{workers: 4, think: 12 * ms, compute: 2 * ms, backend: 2 * ms}, backend},
	"single":       {program{workers: 1, compute: 4 * ms, encode: 2 * ms, backend: 2 * ms}, compute},
	"open-compute": {program{workers: 16, rate: 100, compute: 2 * ms, encode: 2 * ms, backend: 2 * ms}, compute},
	"open-lock":    {program{workers: 16, rate: 120, disk: 4 * ms, backend: 4 * ms}, disk},
	"open-pool":    {program{workers: 16, rate: 300, tokens: 2, query: 4 * ms, backend: 2 * ms}, query},
}

func compute(p *program) *time.Duration { return &p.compute }
func update(p *program) *time.Duration  { return &p.update }
func disk(p *program) *time.Duration    { return &p.disk }
func backend(p *program) *time.Duration { return &p.backend }
func query(p *program) *time.Duration   { return &p.query }

var sink atomic.Uint64

// burn computes for a time, about.
//
//go:noinline
func burn(d time.Duration) {
	x := uint64(d) | 1
	for range d / us * 300 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	sink.Store(x)
}

// around returns a time that varies between half and one and a half.
func around(d time.Duration) time.Duration { return time.Duration(float64(d) * (0.5 + rand.Float64())) }

// wait waits for something outside of the program.
func wait(d time.Duration) {
	if d > 0 {
		time.Sleep(around(d))
	}
}

// A server does the work.
type server struct {
	program
	mu     sync.Mutex
	tokens chan int

	done, spent atomic.Int64
}

//go:noinline
func (s *server) computes() { burn(around(s.compute)) }

//go:noinline
func (s *server) encodes() { burn(around(s.encode)) }

//go:noinline
func (s *server) updates() { burn(around(s.update)) }

//go:noinline
func (s *server) writes() { wait(s.disk) }

//go:noinline
func (s *server) asks() { wait(s.backend) }

//go:noinline
func (s *server) queries() { wait(s.query) }

//go:noinline
func (s *server) store() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.updates()
	s.writes()
}

//go:noinline
func (s *server) withToken() {
	t := <-s.tokens
	s.queries()
	s.tokens <- t
}

//go:noinline
func (s *server) serve(began time.Time) {
	s.computes()
	s.encodes()
	if s.update > 0 || s.disk > 0 {
		s.store()
	}
	s.asks()
	if s.program.tokens > 0 {
		s.withToken()
	}
	s.spent.Add(int64(time.Since(began)))
	s.done.Add(1)
}

func (s *server) worker() {
	for {
		s.serve(time.Now())
		if s.think > 0 {
			time.Sleep(around(s.think))
		}
	}
}

func (s *server) handler(arrived chan bool) {
	for range arrived {
		s.serve(time.Now())
	}
}

func (s *server) arrivals(arrived chan bool) {
	for next := time.Now(); ; arrived <- true {
		next = next.Add(time.Duration(rand.ExpFloat64() / s.rate * 1e9))
		time.Sleep(time.Until(next))
	}
}

func main() {
	runtime.GOMAXPROCS(2)
	p, ok := programs[os.Args[1]]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such program")
		os.Exit(2)
	}
	s := &server{program: p.program}
	if len(os.Args) > 2 {
		*p.cost(&s.program) *= map[string]time.Duration{"half": 1}[os.Args[2]]
		*p.cost(&s.program) /= 2
	}
	s.tokens = make(chan int, s.program.tokens)
	for i := range s.program.tokens {
		s.tokens <- i
	}
	arrived := make(chan bool, 10_000)
	for range s.workers {
		if s.rate > 0 {
			go s.handler(arrived)
		} else {
			go s.worker()
		}
	}
	if s.rate > 0 {
		go s.arrivals(arrived)
	}
	began := time.Now()
	for range time.Tick(500 * ms) {
		fmt.Println(s.done.Load(), s.spent.Load(), int64(time.Since(began)))
	}
}
