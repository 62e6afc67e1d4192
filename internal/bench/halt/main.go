// Halt measures what sampling costs the target, beside fgprof (in the target) and Delve (as a debugger):
//
//	go run ./internal/bench/halt [-quick]
//
// The peers are built from the module in peers, so that nobody else depends on them.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
)

func main() {
	quick := flag.Bool("quick", false, "fewer samples and rounds")
	child := flag.Int("sample", 0, "sample this process and print what it cost (what the benchmark runs itself for)")
	samples := flag.Int("samples", 300, "how many samples to take")
	flag.Parse()
	var err error
	if *child != 0 {
		err = sample(*child, *samples)
	} else {
		err = run(*quick)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "halt:", err)
		os.Exit(1)
	}
}

func run(quick bool) error {
	b, err := newBench(quick)
	if err != nil {
		return err
	}
	defer b.close()
	fmt.Printf("%s/%s, %s, %d processors, GOMAXPROCS 2\n", runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU())
	for _, part := range []func() error{b.goroutines, b.threads, b.change, b.throughput} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// goroutines measures halts by the number of parked goroutines.
func (b *bench) goroutines() error {
	fmt.Printf("\nhalts at 100 Hz, both processors busy\n%12s %10s %10s %10s %10s %9s %12s\n",
		"goroutines", "median µs", "p90", "p99", "longest", "MB", "Delve median")
	for _, n := range []int{10, 1000, 10_000, 100_000} {
		m, err := b.sampled(b.samples, "-parked", itoa(n))
		if err != nil {
			return err
		}
		delve := "-"
		if n <= 10_000 {
			halts, err := b.delve(max(3, min(20, 20_000/n)), "-parked", itoa(n))
			if err != nil {
				return err
			}
			delve = itoa(halts)
		}
		fmt.Printf("%12d %10d %10d %10d %10d %9d %12s\n", n, m.Median, m.P90, m.P99, m.Longest, m.MB, delve)
	}
	return nil
}

// threads measures halts by the number of threads that sleep in system calls.
func (b *bench) threads() error {
	fmt.Printf("\n%12s %10s %10s %10s %10s\n", "threads", "median µs", "p90", "p99", "longest")
	for _, n := range []int{5, 500, 2000} {
		m, err := b.sampled(b.samples, "-parked", "1000", "-threads", itoa(n))
		if err != nil {
			return err
		}
		fmt.Printf("%12d %10d %10d %10d %10d\n", n, m.Median, m.P90, m.P99, m.Longest)
	}
	return nil
}

// change measures the sampler's own use of a processor.
func (b *bench) change() error {
	m, err := b.sampled(3*b.samples, "-parked", "1000", "-wake", "10", "-work=false")
	if err != nil {
		return err
	}
	fmt.Printf("\nsampler at 100 Hz, 1,000 goroutines of which 1 %% run between two samples: %.1f %% of a core; "+
		"%.1f %% of the stacks taken over unread, %d of %d that were read again were wrong\n",
		m.CPU*100, m.Reused*100, m.Wrong, m.Rechecked)
	return nil
}

// throughput compares what the target gets done: alone, sampled, and profiling itself with fgprof.
func (b *bench) throughput() error {
	args := []string{"-parked", "10000"}
	var sampled, fgprof []float64
	for range b.rounds {
		alone, err := b.speed(b.target, nil, args)
		if err != nil {
			return err
		}
		with, err := b.speed(b.target, b.sampleOf, args)
		if err != nil {
			return err
		}
		itself, err := b.speed(b.fgprof, nil, args)
		if err != nil {
			return err
		}
		again, err := b.speed(b.target, nil, args)
		if err != nil {
			return err
		}
		base := (alone + again) / 2
		sampled, fgprof = append(sampled, with/base), append(fgprof, itself/base)
	}
	fmt.Printf("\nwhat a target with 10,000 parked goroutines gets done, of what it does alone (median, least and most of %d rounds)\n", b.rounds)
	fmt.Printf("  sampled at 100 Hz    %s\n  fgprof at 99 Hz      %s\n", spread(sampled), spread(fgprof))
	return nil
}
