//go:build linux && (amd64 || arm64)

// Halt measures what sampling costs the target, and compares it
// with peers: those that a program has in itself (fgprof,
// profiles of the runtime, dumps, flight recorder), Delve and
// perf:
//
//	go run ./internal/bench/halt [-quick] [-part throughput]
//
// The programs to compare with are built from the module in
// peers, so that nothing else depends on it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/cpprof/cpprof/internal/bench/tool"
)

// asJSON asks for the throughput as JSON.
var asJSON bool

func main() {
	quick := flag.Bool("quick", false, "fewer samples and rounds")
	child := flag.Int("sample", 0, "sample this process and print what it cost (what the benchmark runs itself for)")
	samples := flag.Int("samples", 300, "with -sample: how many samples to take, 100 a second whatever they cost")
	recorded := flag.Bool("record", false, "with -sample: record as cpprof does, within its budgets, until the input ends")
	maxCPU := flag.Float64("max-cpu", 0, "bound on the sampler's processor time, in cores, for the parts that record within budgets; 0: cpprof's default")
	flag.BoolVar(&asJSON, "json", false, "print the throughput as JSON")
	part := flag.String("part", "", "measure one part only: goroutines, threads, change or throughput")
	flag.Parse()
	tool.Main("halt", func() (good bool, err error) {
		switch {
		case *child != 0 && *recorded:
			return true, record(*child, *maxCPU)
		case *child != 0:
			return true, sample(*child, *samples)
		}
		return true, run(*quick, *maxCPU, *part)
	})
}

func run(quick bool, maxCPU float64, only string) error {
	b, err := newBench(quick, maxCPU)
	if err != nil {
		return err
	}
	defer b.close()
	fmt.Fprintf(os.Stderr, "%s/%s, %s, %d processors, GOMAXPROCS 2\n", runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU())
	known := false
	for _, part := range []struct {
		name    string
		measure func() error
	}{
		{"goroutines", b.goroutines}, {"threads", b.threads}, {"change", b.change}, {"throughput", b.throughput},
	} {
		if only != "" && only != part.name {
			continue
		}
		known = true
		if err := part.measure(); err != nil {
			return err
		}
	}
	if !known {
		return fmt.Errorf("-part %s: there is no such part", only)
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

// threads measures halts by the number of threads that sleep in
// system calls, or that come and go.
func (b *bench) threads() error {
	fmt.Printf("\n%-14s %10s %10s %10s %10s %10s\n", "threads", "", "median µs", "p90", "p99", "longest")
	row := func(kind string, n int) error {
		m, err := b.sampled(b.samples, "-parked", "1000", kind, itoa(n))
		if err == nil {
			fmt.Printf("%-14s %10d %10d %10d %10d %10d\n", threadKinds[kind], n, m.Median, m.P90, m.P99, m.Longest)
		}
		return err
	}
	for _, n := range []int{5, 500, 2000} {
		if err := row("-threads", n); err != nil {
			return err
		}
	}
	return row("-churn", 3000)
}

// threadKinds are the kinds of threads by the flag of the target
// that starts them.
var threadKinds = map[string]string{"-threads": "asleep", "-churn": "come and go"}

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

func recordingName(maxCPU float64) string {
	if maxCPU == 0 {
		return "recorded as cpprof record does"
	}
	return fmt.Sprintf("recorded, with at most %g %% of a core", maxCPU*100)
}

// throughput compares how much work the target does: alone, sampled,
// observing itself, and observed by other programs. It keeps both
// processors busy.
func (b *bench) throughput() error {
	for _, parked := range []string{"10", "10000"} {
		if err := b.throughputWith(parked); err != nil {
			return err
		}
	}
	return nil
}

// throughputWith does so for a target with a number of parked goroutines.
func (b *bench) throughputWith(parked string) error {
	args := []string{"-parked", parked}
	ways := []way{
		{name: "not sampled"},
		{name: recordingName(b.maxCPU), args: []string{"-record", "-max-cpu", fmt.Sprint(b.maxCPU)}},
		{name: "sampled 100 times a second, no budget", args: []string{"-samples", itoa(1 << 30)}},
		{name: "fgprof at 99 Hz", profile: "fgprof"},
		{name: "CPU profile", profile: "CPU"},
		{name: "block and mutex profile", profile: "block and mutex"},
		{name: "a dump of all goroutines a second", profile: "dumps"},
		{name: "flight recorder", profile: "flight"},
		{name: "Delve, all stacks once a second", command: []string{b.peer, "-pause", "1s"}},
	}
	if _, err := exec.LookPath("perf"); err == nil {
		ways = append(ways, way{name: "perf record -g -F 99", command: []string{"perf", "record", "-q", "-g", "-F", "99", "-o", b.dir + "/perf", "-p"}})
	}
	for range b.rounds {
		for i := range ways {
			try := b.disturb
			if ways[i].profile != "" {
				try = b.observing
			}
			if err := try(&ways[i], args); err != nil {
				return fmt.Errorf("%s: %w", ways[i].name, err)
			}
		}
	}
	if asJSON {
		for _, w := range ways {
			if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"way": w.name, "parked": parked,
				"kept": tool.Median(w.ratios), "byCPU": tool.Median(w.byCPU), "cpu": tool.Median(w.cpu)}); err != nil {
				return err
			}
		}
		return nil
	}
	fmt.Printf("\nwhat a target with %s parked goroutines and both processors busy gets done, of what it does alone (median,\n"+
		"least and most of %d rounds), by the wall clock and by its CPU clock, which other programs don't disturb\n", parked, b.rounds)
	for _, w := range ways {
		samples := ""
		if w.args != nil {
			samples = fmt.Sprintf(", %.0f samples a second", tool.Median(w.rates))
		}
		fmt.Printf("  %-38s %s   %s   %5.1f %% of a core%s\n", w.name, spread(w.ratios), spread(w.byCPU), 100*tool.Median(w.cpu), samples)
	}
	return nil
}
