package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// The order desk is the program that "cpprof demo" records: a server that takes orders, writes them into a journal and
// publishes them, and makes its own clients, so that it needs nothing else. It keeps its processors busy and has four
// problems to find.
//
// It is this very program, in a process of its own, so that the demo needs no compiler. What a profile is to show by its
// name is kept from being inlined, so that it looks the same whichever compiler made it.

const (
	intakes    = 3  // goroutines that put orders into queues
	publishers = 4  // goroutines that send orders to subscribers
	workers    = 10 // goroutines that write orders into the journal
)

// orderDeskArgument makes cpprof the order desk. It is no command: nobody but the demo wants it.
const orderDeskArgument = "serve-the-demo"

// orderDeskCommand is the command that runs the order desk. It ends by itself when this process does.
func orderDeskCommand(ctx context.Context) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, self, orderDeskArgument)
	c.Stderr = os.Stderr
	if os.Getenv("GOMAXPROCS") == "" {
		c.Env = append(os.Environ(), "GOMAXPROCS=2") // the profile is the same on every machine
	}
	return c, nil
}

// orderDesk serves for as long as the process that started it lives, but for an hour at most.
func orderDesk() {
	parent := os.Getppid()
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "the demo's server:", err)
		os.Exit(exitFailed)
	}
	for end := time.Now().Add(time.Hour); time.Now().Before(end) && os.Getppid() == parent; {
		time.Sleep(250 * time.Millisecond)
	}
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
