//go:build linux

// Work does one kind of work until it is killed, for the program
// truth: each workload has goroutines that spend their time in
// known ways.
//
//	work WORKLOAD [FILE]
//
// It prints a line when the work has begun. With a file, it
// writes an execution trace to it, which begins when a line
// comes in and ends, as the program does, at the next line.
package main

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"runtime/trace"
	"slices"
	"strings"
)

// A workload starts goroutines and returns.
type workload func()

var workloads = map[string]workload{
	"burn1":      func() { start(1, burner) },
	"burn2":      func() { start(2, burner) },
	"burst":      burst,
	"condwg":     condWG,
	"duty":       duty,
	"fileio":     fileIO,
	"gcheavy":    gcHeavy,
	"idle":       func() {},
	"leaves":     func() { go leafRunner(leaves) },
	"locked":     locked,
	"many":       many,
	"mutexlong":  mutexLong,
	"mutexshort": mutexShort,
	"netecho":    netEcho,
	"oversub":    func() { start(8, burner) },
	"phases":     phases,
	"pipeline":   pipeline,
	"ratio532":   func() { go leafRunner(ratio532) },
	"rwmutex":    rwMutex,
	"shortlived": shortLived,
	"syscalls":   syscalls,
	"timers":     timers,
	"yield":      func() { start(6, yielder) },
}

// start starts a number of goroutines with the same function.
func start(n int, f func()) {
	for range n {
		go f()
	}
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "work:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 || workloads[args[0]] == nil {
		names := slices.Sorted(maps.Keys(workloads))
		return fmt.Errorf("usage: work WORKLOAD [FILE]; the workloads are %s", strings.Join(names, ", "))
	}
	workloads[args[0]]()
	fmt.Println("ready")
	if len(args) < 2 {
		select {}
	}
	in := bufio.NewReader(os.Stdin)
	if _, err := in.ReadString('\n'); err != nil {
		return fmt.Errorf("waiting for a line: %w", err)
	}
	f, err := os.Create(args[1])
	if err != nil {
		return err
	}
	if err := trace.Start(f); err != nil {
		return err
	}
	if _, err := in.ReadString('\n'); err != nil {
		return fmt.Errorf("waiting for a second line: %w", err)
	}
	trace.Stop()
	return f.Close()
}
