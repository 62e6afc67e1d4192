// Command orderdesk is the program that "cpprof demo" records: a server that takes orders, writes them into a
// journal and publishes them, and makes its own clients, so that it needs nothing else. It keeps its processors
// busy and has four problems to find.
//
// It ends by itself after a while, when the process that started it ends, and, where told to, when its standard
// input does. What a profile is to show by its name is kept from being inlined, so that it looks the same
// whichever compiler made it.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

const (
	intakes    = 3  // goroutines that put orders into queues
	publishers = 4  // goroutines that send orders to subscribers
	workers    = 10 // goroutines that write orders into the journal
)

func main() {
	lifetime := flag.Duration("for", time.Minute, "how long to run")
	stdin := flag.Bool("stdin", false, "end when standard input ends")
	flag.Parse()

	// With two processors the profile is the same on every machine.
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(2)
	}
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "orderdesk:", err)
		os.Exit(1)
	}
	if *stdin {
		go watchStdin()
	}
	waitForEnd(*lifetime)
}

// serve starts the goroutines of the server and of its clients.
func serve() error {
	j, err := openJournal()
	if err != nil {
		return err
	}
	go flusher(j)
	requests := make(chan *order)
	for i := 0; i < workers; i++ {
		go worker(requests, j)
	}
	go client(requests)
	for i := 0; i < intakes; i++ {
		go intake()
	}
	for i := 0; i < publishers; i++ {
		go publisher()
	}
	return nil
}

// client sends a request a millisecond, as far as there are workers that take it.
//
//go:noinline
func client(requests chan<- *order) {
	for n := 0; ; n++ {
		time.Sleep(time.Millisecond)
		requests <- newOrder(n)
	}
}

// worker serves one request after the other.
//
//go:noinline
func worker(requests <-chan *order, j *journal) {
	for o := range requests {
		j.add(o)
	}
}

// An order is what a client sends.
type order struct {
	number   int
	customer string
	items    []string
}

func newOrder(n int) *order {
	return &order{
		number:   n,
		customer: "Ærø & Sons <orders@aeroe.example>",
		items:    []string{"\"long\" nails", "hooks & eyes", "paint <white>", "brushes", "twine"},
	}
}
