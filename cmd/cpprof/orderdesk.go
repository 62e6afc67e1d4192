package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// The order desk is the program that "cpprof demo" records: a
// server that takes orders, writes them into a journal and
// publishes them. It has its own clients, so that it needs
// nothing else. It keeps its processors busy and has four
// problems to find.
//
// It is the cpprof executable in a process of its own, so that
// the demo needs no compiler. Functions that a profile should
// show are not inlined, so that the profile is the same with
// every compiler.

const (
	intakes    = 3  // goroutines that put orders into queues
	publishers = 4  // goroutines that send orders to subscribers
	workers    = 10 // goroutines that write orders into the journal
)

// orderDeskArgument makes cpprof run as the order desk. It is
// not a command, since only the demo needs it.
const orderDeskArgument = "serve-the-demo"

// orderDeskCommand returns the command that runs the order desk.
// The order desk ends by itself when this process ends.
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

// orderDesk runs until the process that started it ends, but for
// an hour at most.
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

// client sends a request every millisecond, if a worker is free
// to take it.
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
