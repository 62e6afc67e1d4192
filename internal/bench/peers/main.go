//go:build linux

// Peers holds cpprof against what else shows why a Go program is
// slow: what a program keeps of its work while it is observed,
// how long it must be observed until the answer names the cause,
// and how many causes are named. From the top of the repository:
//
//	go run ./internal/bench/peers                              an hour, on a quiet machine
//	go run ./internal/bench/peers -quick -run 'ratelimit|jwt'  a quarter of an hour
//
// The load comes from internal/bench/halt, the real bugs and the
// planted causes from internal/bench/bugs. An answer names a
// cause if one of its first three lines does.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/internal/lists"
)

// lengths are how long programs are observed; the last one is
// for all bugs.
var lengths = []time.Duration{time.Second / 4, time.Second / 2, time.Second, 2 * time.Second, 4 * time.Second}

// A peer is a row of the table, with its names in the two benchmarks.
type peer struct{ name, way, place string }

var peers = []peer{
	{"cpprof", "recorded as cpprof record does", "cpprof"},
	{"fgprof", "fgprof at 99 Hz", "fgprof"},
	{"CPU profile", "CPU profile", "CPU"},
	{"block profile", "block and mutex profile", "block"},
	{"mutex profile", "block and mutex profile", "mutex"},
	{"CPU, block and mutex profile", "", "runtime"},
	{"dump each second", "a dump of all goroutines a second", "dump"},
	{"Delve each second", "Delve, all stacks once a second", "dump"},
	{"flight recorder", "flight recorder", "flight"},
	{"perf record -g", "perf record -g -F 99", "perf"},
}

// A cost is what observing costs a program with some parked goroutines.
type cost struct {
	Way, Parked      string
	Kept, ByCPU, CPU float64
}

// A trial says where each peer names the cause of a bug.
type trial struct {
	Bug    string
	Places map[string]int // 0: nowhere
}

func main() {
	quick := flag.Bool("quick", false, "fewer rounds of the load")
	run := flag.String("run", "", "only the bugs whose names match")
	early := flag.String("early", "glog-sync|ratelimit-lock|otellog-spin|jwt-split|yaml-keys|jose-p2c",
		"the bugs that are observed for less than 4 s, too")
	flag.Parse()
	if *run != "" {
		*early = *run
	}
	tool.Main("peers", func() (good bool, err error) { return true, compare(*quick, *run, *early) })
}

func compare(quick bool, run, pattern string) error {
	early, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	costs, err := output[cost]("halt", "-json", "-part", "throughput", fmt.Sprintf("-quick=%v", quick))
	if err != nil {
		return err
	}
	named, first := map[string]int{}, map[string]map[string]time.Duration{}
	all := 0
	for i, length := range lengths {
		if i == len(lengths)-1 {
			pattern = run
		}
		trials, err := output[trial]("bugs", "-before", "-d", length.String(), "-run", pattern)
		if err != nil {
			return err
		}
		all = len(trials)
		clear(named)
		for _, t := range trials {
			for peer, at := range t.Places {
				if at == 0 {
					continue
				}
				named[peer]++
				if first[peer] == nil {
					first[peer] = map[string]time.Duration{}
				}
				if _, ok := first[peer][t.Bug]; !ok && early.MatchString(t.Bug) {
					first[peer][t.Bug] = length
				}
			}
		}
	}
	causes, err := output[trial]("bugs", "-planted", "-d", lengths[len(lengths)-1].String(), "-run", run)
	if err != nil {
		return err
	}
	fmt.Println("|  | work kept, processor time (of a core): 10 parked goroutines | 10,000 | named after (median) | named | planted |\n" +
		"|---|---|---|---|---|---|")
	for _, p := range peers {
		fmt.Printf("| %s |", p.name)
		for _, parked := range []string{"10", "10000"} {
			i := slices.IndexFunc(costs, func(c cost) bool { return c.Way == p.way && c.Parked == parked })
			if i < 0 {
				fmt.Print(" not tried |")
				continue
			}
			fmt.Printf(" %.1f %%, %.1f %% |", 100*costs[i].Kept, 100*max(0, costs[i].CPU))
		}
		fmt.Printf(" %s | %d of %d | %d of %d |\n", middle(first[p.place]), named[p.place], all,
			lists.Count(causes, func(t trial) bool { return t.Places[p.place] > 0 }), len(causes))
	}
	return nil
}

// middle returns the median of the times until a cause was named.
func middle(first map[string]time.Duration) string {
	if len(first) == 0 {
		return "never"
	}
	return tool.Median(slices.Collect(maps.Values(first))).String()
}

// output runs a benchmark, and reads its lines.
func output[line any](bench string, args ...string) (lines []line, err error) {
	c := exec.Command("go", append([]string{"run", "./internal/bench/" + bench}, args...)...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	for text := bufio.NewScanner(bytes.NewReader(out)); text.Scan(); {
		var l line
		if err := json.Unmarshal(text.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s printed %q: %w", bench, text.Text(), err)
		}
		lines = append(lines, l)
	}
	if err != nil && len(lines) == 0 {
		return nil, fmt.Errorf("%s: %w", bench, err)
	}
	return lines, nil // without those that failed, which it has told
}
