//go:build linux

// Truth holds recordings against execution traces of the same
// seconds. It runs workloads whose goroutines spend their time
// in known ways, records each with cpprof while the Go runtime
// traces it, and prints for each thread class what the recording
// says and what the trace says:
//
//	go run ./internal/bench/truth                                        all workloads, three times each
//	go run ./internal/bench/truth -workload phases,rwmutex -pin -busy 1  on one CPU, beside a program that computes
//	go run ./internal/bench/truth -pid 4711 -url http://127.0.0.1:6060/debug/pprof/trace -load 'wrk ...'
//
// Shares are shares of the class's lifetime:
//
//	run     :RUN and :LOAD :no-CPU         at least running, at most running or in a system call
//	busy    these, and :WAIT :syscall      running, or in a system call
//	ready   the rest of :LOAD, and :PRIO   runnable
//	lock    :MONITOR                       waiting for a sync.Mutex or sync.RWMutex
//	wait    the rest of :WAIT              waiting for anything else
//
// The difference of the two ("all") has two parts. One is the
// difference at the moments of the samples ("class"): states
// that were reported wrongly. The other is that between these
// moments and all the time ("when"): moments that were not
// chosen or weighted well. A difference is marked with !! if it
// is larger than 3 standard errors, which are estimated from the
// samples. The utilisation is held against the kernel's clock of
// the process's CPU time.
//
// With -clock, runs are not traced, and only the utilisation is
// held against that clock: the shares of a long run have small
// errors, where the trace of one would be large.
//
// It ends with status 1 if anything is marked, and with status 2
// if it fails.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
)

var (
	chosen   = flag.String("workload", "", "workloads, with commas between them; all if empty")
	seconds  = flag.Float64("seconds", 5, "how long to record in each run")
	repeat   = flag.Int("repeat", 3, "how many runs")
	pid      = flag.Int("pid", 0, "record this server instead of workloads; it must be built with Go 1.25 or later")
	url      = flag.String("url", "", "with -pid: the address from which the server's execution trace can be fetched")
	load     = flag.String("load", "", "with -pid: a shell command that loads the server; it is killed after each run")
	onOneCPU = flag.Bool("pin", false, "run the workload, cpprof and the other programs on one CPU")
	others   = flag.Int("busy", 0, "how many other programs compute meanwhile")
	more     = flag.String("record", "", "more flags for cpprof record, with blanks between them")
	clock    = flag.Bool("clock", false, "do not trace: hold only the utilisation against the CPU clock")
	keep     = flag.String("keep", "", "keep recordings and traces in this folder")
	minAlive = flag.Float64("min-alive", 0.02, "leave out classes with fewer goroutines at a time")
	verbose  = flag.Bool("v", false, "print all classes, also those of the runtime without a difference")
)

func main() {
	flag.Parse()
	tool.Main("truth", run)
}

func run() (good bool, err error) {
	if *repeat < 1 || *seconds < 1 || flag.NArg() > 0 || (*pid == 0 || *clock) != (*url == "") {
		return false, fmt.Errorf("want at least one second and one run, -url with -pid and without -clock, and no arguments")
	}
	b, err := newBench()
	if err != nil {
		return false, err
	}
	defer b.close()
	b.pinned, b.others, b.flags = *onOneCPU, *others, strings.Fields(*more)
	b.keep, b.clockOnly = *keep, *clock
	b.length = time.Duration(*seconds * float64(time.Second))
	names, observe := []string{fmt.Sprintf("process %d", *pid)}, b.server
	if *pid == 0 {
		observe = b.workload
		if names, err = b.choose(*chosen); err != nil {
			return false, err
		}
	}
	var found findings
	for _, name := range names {
		c, err := b.repeated(name, *repeat, observe)
		if err != nil {
			return false, fmt.Errorf("%s: %w", name, err)
		}
		c.print(os.Stdout, name, *verbose, &found)
	}
	found.print(os.Stdout)
	return len(found.marked) == 0, nil
}
