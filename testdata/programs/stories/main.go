// Stories has programs whose behaviour changes while they run, for a known reason, and for each a variant without the reason. The
// arguments name the program and the variant. A program prepares itself, prints a line, begins when it reads one, does a fixed amount of work,
// and ends.
package main

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// programs return what they do when they begin.
var programs = map[string]func(variant string) func(){
	"gradual": gradual, "sudden": sudden, "scale": scale, "cycles": cycles, "periodic": periodic,
}

func main() {
	program := programs[os.Args[1]]
	if program == nil {
		fmt.Fprintln(os.Stderr, "no such program")
		os.Exit(2)
	}
	begin := program(os.Args[2])
	fmt.Println("ready")
	fmt.Scanln()
	begin()
}

// What the programs count. A recording reads it.
var (
	served    atomic.Int64     // requests
	allocated int64            // bytes
	sorted    int64            // elements
	compared  int64            // pairs of elements
	setSize   int64        = 1 // number of elements that are sorted together
)

// inParallel runs workers and waits for them.
func inParallel(workers int, worker func(number int)) {
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() { worker(i) })
	}
	all.Wait()
}
