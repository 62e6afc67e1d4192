//go:build linux && (amd64 || arm64)

// Monitors measures what the usual monitors add to a recording:
// to the sampler's processor time and to the halts. Both are
// measured in one run, in which two seconds with monitors and
// two without take turns, twenty samples a second. Then it
// measures each source of monitors by itself:
//
//	go run ./internal/bench/monitors [-rounds 10]
//
// The programs are the one of cpprof demo, and one with 1,000
// goroutines that wait.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/internal/lists"
)

// interval is the time between two samples.
const interval = 50 * time.Millisecond

func main() {
	rounds := flag.Int("rounds", 10, "number of turns with monitors, of two seconds each")
	flag.Parse()
	tool.Main("monitors", func() (good bool, err error) { return true, run(*rounds) })
}

func run(rounds int) error {
	dir, err := tool.Build("cmd/cpprof", "testdata/programs/states")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%s/%s, %s, %d processors\n", runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU())
	for _, p := range []struct {
		name, file string
		args       []string
	}{
		{"the demo", "cpprof", []string{"serve-the-demo"}},
		{"1,000 goroutines", "states", []string{"parked", "1000"}},
	} {
		c := exec.Command(filepath.Join(dir, p.file), p.args...)
		if err := c.Start(); err != nil {
			return err
		}
		time.Sleep(time.Second) // until it does what it does
		with, without, err := measure(dir, c.Process.Pid, rounds)
		sources, failed := measureSources(c.Process.Pid, 100)
		c.Process.Kill()
		c.Wait()
		if err = errors.Join(err, failed); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Printf("\n%s, %d samples each\n%-18s %12s %12s %12s %12s\n", p.name, len(with.halts), "", "CPU/sample", "median CPU", "halt median", "halt p90")
		with.print("with monitors")
		without.print("without")
		more := mean(with.cpu) - mean(without.cpu)
		fmt.Printf("monitors add %v +- %v a sample (median %v): %.1f %% of the sampler's processor time\n",
			more.Round(100*time.Nanosecond), standardError(with.cpu, without.cpu).Round(100*time.Nanosecond),
			(quantile(with.cpu, 0.5) - quantile(without.cpu, 0.5)).Round(100*time.Nanosecond), 100*float64(more)/float64(mean(without.cpu)))
		printPart("reading", with.reading, without.reading, without.cpu)
		printPart("storing", with.storing, without.storing, without.cpu)
		printSources(sources)
	}
	return nil
}

// printPart prints what monitors add to a part of a sample.
func printPart(name string, with, without, all []time.Duration) {
	more := mean(with) - mean(without)
	fmt.Printf("%s them takes %v a sample (median %v): %.1f %%\n", name, more.Round(100*time.Nanosecond),
		(quantile(with, 0.5) - quantile(without, 0.5)).Round(100*time.Nanosecond), 100*float64(more)/float64(mean(all)))
}

// printSources prints what each source takes when it is read
// after a sample, and so in the mean of all samples.
func printSources(sources []sourceCost) {
	var all time.Duration
	fmt.Printf("%-28s %8s %12s %12s\n", "source, by its first monitor", "every", "median", "a sample")
	for _, s := range sources {
		median := quantile(s.took, 0.5)
		share := time.Duration(float64(median) * float64(interval) / float64(s.every))
		all += share
		fmt.Printf("%-28s %8v %12v %12v\n", s.name, s.every, median.Round(100*time.Nanosecond), share.Round(100*time.Nanosecond))
	}
	fmt.Printf("%-28s %8s %12s %12v\n", "all", "", "", all.Round(100*time.Nanosecond))
}

// costs are what samples cost.
type costs struct {
	cpu, halts, reading, storing []time.Duration // reading and storing are parts of cpu, with the time of two clocks
}

// moments returns the mean, and its standard error.
func moments(of []time.Duration) (mean, standardError float64) {
	mean, spread := stat.MeanStdDev(lists.Each(of, func(d time.Duration) float64 { return float64(d) }), nil)
	return mean, stat.StdErr(spread, float64(len(of)))
}

func mean(of []time.Duration) time.Duration {
	m, _ := moments(of)
	return time.Duration(m)
}

// standardError returns the standard error of the difference of two means.
func standardError(a, b []time.Duration) time.Duration {
	_, first := moments(a)
	_, second := moments(b)
	return time.Duration(math.Hypot(first, second))
}

func quantile(of []time.Duration, q float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	return sorted[int(q*float64(len(sorted)-1))]
}

func (c *costs) print(name string) {
	fmt.Printf("%-18s %12v %12v %12v %12v\n", name, mean(c.cpu).Round(100*time.Nanosecond), quantile(c.cpu, 0.5), quantile(c.halts, 0.5), quantile(c.halts, 0.9))
}
