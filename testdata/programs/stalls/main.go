// Stalls is a server whose requests take a millisecond, but for some seconds in which something stalls them. Its argument
// is how many stalls there are, at random times; it prints the kind of each as it begins, and ends some seconds after the last
// one: by a panic if the second argument is "panic". Otherwise it prints how many requests were not stalled, and the median
// and the 99 % quantile of their nanoseconds. With "flight", the flight recorder of Go's execution traces runs meanwhile.
package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/trace"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A server handles requests that look something up, and write to a log.
type server struct {
	mu    sync.Mutex
	table map[int]int
	log   chan int
	slow  chan time.Duration // how long the log's writer stalls

	took chan time.Duration // by requests that were not stalled
}

func (s *server) lookUp(key int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.table[key]
}

func (s *server) handle(key int) {
	s.lookUp(key)
	time.Sleep(time.Millisecond)
	s.log <- key
}

// work handles requests, one after the other.
func (s *server) work() {
	for {
		began := time.Now()
		s.handle(rand.IntN(100))
		if d := time.Since(began); d < 100*time.Millisecond {
			s.took <- d
		}
		time.Sleep(time.Duration(10+rand.IntN(10)) * time.Millisecond)
	}
}

// writeLog empties the log.
func (s *server) writeLog() {
	for {
		select {
		case d := <-s.slow:
			s.rotate(d)
		case <-s.log:
		}
	}
}

// rotate is slow: the log fills up meanwhile.
func (s *server) rotate(d time.Duration) { time.Sleep(d) }

// rebuild keeps the lock while it makes the table anew.
func (s *server) rebuild(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	time.Sleep(d)
	s.table = map[int]int{}
}

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	s := &server{table: map[int]int{}, log: make(chan int, 4), slow: make(chan time.Duration),
		took: make(chan time.Duration, 1<<20)}
	mode := ""
	if len(os.Args) > 2 {
		mode = os.Args[2]
	}
	if mode == "flight" {
		recorder := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: 10 * time.Second})
		if err := recorder.Start(); err != nil {
			panic(err)
		}
	}
	go s.writeLog()
	for range 20 {
		go s.work()
	}
	fmt.Println("ready")
	time.Sleep(3 * time.Second)
	for i := range n {
		const stall = 900 * time.Millisecond
		if i%2 == 0 {
			fmt.Println("rebuild")
			s.rebuild(stall)
		} else {
			fmt.Println("rotate")
			s.slow <- stall
			time.Sleep(stall)
		}
		time.Sleep(3*time.Second + time.Duration(rand.IntN(2000))*time.Millisecond)
	}
	if mode == "panic" {
		panic("the end")
	}
	all := make([]time.Duration, len(s.took))
	for i := range all {
		all[i] = <-s.took
	}
	slices.Sort(all)
	if n := len(all); n > 0 {
		fmt.Println("done", n, all[n/2].Nanoseconds(), all[n*99/100].Nanoseconds())
	}
}
