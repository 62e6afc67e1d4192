package main

import (
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/sampler"
)

const (
	callRate = 1000 // calls a second, for the cost
	turn     = 5 * time.Second
	settle   = time.Second // at both ends of a turn, in which instruments come and go
	mostCost = 0.01        // of a processor
)

// modes are what cpprof does in a turn. Calls by samples are
// found afterwards in what the second one records.
var modes = []struct {
	name string
	args []string // of record; nil for nothing at all
}{{"nothing", nil}, {"record", []string{}}, {"record --calls", []string{"--calls", function}}}

// measureCost compares the processor time of a server that makes
// 1,000 calls a second, in turns, and reports whether calls by
// uprobes surely cost less than 1 % of a processor.
func measureCost(folder string, rounds int) (good bool, err error) {
	s, err := serve(folder, "-rate", fmt.Sprint(callRate), "-usual", "0s", "none")
	if err != nil {
		return false, err
	}
	type window struct {
		begin, end time.Time
		used       time.Duration
	}
	used := make([][]window, len(modes))
	for range rounds {
		for m, mode := range modes {
			began := time.Now()
			recorded := func() error { return nil }
			if mode.args != nil {
				recorder := s.recorder(folder, "cost.cpprof", turn, mode.args...)
				if recorded, err = tool.Begin(recorder); err != nil {
					return false, err
				}
			}
			time.Sleep(settle)
			from := sampler.ProcessorTimeOf(s.Process.Pid)
			w := window{begin: time.Now()}
			time.Sleep(time.Until(began.Add(turn - settle)))
			w.end, w.used = time.Now(), sampler.ProcessorTimeOf(s.Process.Pid)-from
			time.Sleep(time.Until(began.Add(turn)))
			if err := recorded(); err != nil {
				return false, err
			}
			used[m] = append(used[m], w)
		}
	}
	clock, err := s.end()
	if err != nil {
		return false, err
	}
	each := make([][]float64, len(modes)) // by mode and round: microseconds of processor time a request
	for m := range modes {
		for _, w := range used[m] {
			n := 0
			for _, r := range clock {
				if w.begin.UnixNano() <= r.Begin && r.Begin < w.end.UnixNano() {
					n++
				}
			}
			each[m] = append(each[m], float64(w.used.Microseconds())/float64(n))
		}
		mean, spread := stat.MeanStdDev(each[m], nil)
		fmt.Printf("%-15s %6.1f µs of processor time a request (standard deviation %.1f)\n", modes[m].name, mean, spread)
	}
	good = true
	for m := 1; m < len(modes); m++ {
		low, high := difference(each[m], each[m-1])
		costs := [2]float64{low * callRate / 1e6, high * callRate / 1e6}
		fmt.Printf("%s costs %.2f to %.2f %% of a processor more than %s, at %d calls a second\n", modes[m].name,
			100*costs[0], 100*costs[1], modes[m-1].name, callRate)
		if m == 2 && costs[1] > mostCost {
			good = false
			fmt.Printf("  !! that is not surely below %.0f %%\n", 100*mostCost)
		}
	}
	return good, nil
}

// difference returns the 95 % interval of the mean difference
// between two measurements in the same rounds.
func difference(a, b []float64) (low, high float64) {
	list := make([]float64, len(a))
	for i := range a {
		list[i] = a[i] - b[i]
	}
	mean, spread := stat.MeanStdDev(list, nil)
	n := float64(len(list))
	if n < 2 {
		return math.Inf(-1), math.Inf(1)
	}
	half := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.975) * spread / math.Sqrt(n)
	return mean - half, mean + half
}
