// Calls holds what 'cpprof calls' says of slow calls against the
// clock of the server that made them, and measures what it costs
// the server. The server (testdata/programs/tardy) lets some
// requests wait for something known, and times each part of each
// request:
//
//	go run ./internal/bench/calls                        seven kinds of waits, by three sources, 30 seconds each: 8 minutes
//	go run ./internal/bench/calls -waits lock -seconds 10 -sources samples
//	go run ./internal/bench/calls -cost 10               the cost at 1,000 calls a second, in 10 rounds of 15 seconds
//
// Of the slowest 1 % of the calls, and of the middle half, it
// prints for each part the share of their time by the server's
// clock and by each source. It ends with status 1 if one differs
// by more than 3 points (5 by samples), if the first reason is
// not the injected one, or if the calls cost more than 1 % of a
// processor; and with status 2 if it fails.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
)

var (
	waits   = flag.String("waits", "lock,channel,collector,processors,disk,sleep,two", "what the slow requests wait for")
	sources = flag.String("sources", "uprobes,samples,trace", "what shows the calls")
	seconds = flag.Int("seconds", 30, "how long to record")
	rate    = flag.Int("rate", 100, "samples a second")
	cores   = flag.String("max-cpu", "30%", "the share of one core that cpprof may use")
	rounds  = flag.Int("cost", 0, "measure the cost, in this number of rounds")
)

const function = "main.handle"

// parts has the function that does each part of a request.
var parts = map[string]string{"lock": "main.takeLock", "channel": "main.send", "collector": "main.collect",
	"processors": "main.starve", "disk": "main.fsync", "sleep": "main.retry", "ask": "main.ask"}

// wanted has parts of the right first reason: it has one of them.
var wanted = map[string][]string{"lock": {"go:main.refresh", "main.takeLock"}, "channel": {"main.send"},
	"collector": {"collector", "main.collect"}, "processors": {"no-cpu", "main.starve"}, "disk": {"main.fsync"},
	"sleep": {"main.retry"}, "two": {"go:main.refresh", "main.takeLock", "main.retry"}}

func main() {
	flag.Parse()
	tool.Main("calls", run)
}

func run() (good bool, err error) {
	folder, err := tool.Build("cmd/cpprof", "testdata/programs/tardy")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(folder)
	if *rounds > 0 {
		return measureCost(folder, *rounds)
	}
	good = true
	for _, wait := range strings.Split(*waits, ",") {
		if wanted[wait] == nil {
			return false, fmt.Errorf("unknown wait %q", wait)
		}
		ok, err := try(folder, wait)
		if err != nil {
			return false, fmt.Errorf("%s: %w", wait, err)
		}
		good = good && ok
	}
	return good, nil
}

// try records a server with one kind of wait, and compares what
// the sources show.
func try(folder, wait string) (good bool, err error) {
	good = true
	var recorded *sampledata.Recording
	var clock []request
	for _, source := range strings.Split(*sources, ",") {
		var r *sampledata.Recording
		name := function
		switch source {
		case "trace":
			name = "region:handle"
			if r, clock, err = traced(folder, wait); err != nil {
				return false, err
			}
			recorded = nil
		default:
			if recorded == nil {
				if recorded, clock, err = record(folder, wait); err != nil {
					return false, err
				}
			}
			only := *recorded
			if r = &only; source == "samples" {
				r.Calls = nil
			}
		}
		ok, err := compare(r, name, wait, clock)
		if err != nil {
			return false, err
		}
		good = good && ok
	}
	return good, nil
}

// A request has the server's own times.
type request struct {
	Begin, Took int64
	Parts       map[string]int64
}

// A server is a running program that serves requests.
type server struct{ *tool.Program }

func serve(folder string, args ...string) (*server, error) {
	cmd := exec.Command(filepath.Join(folder, "tardy"), args...)
	cmd.Stderr = os.Stderr
	p, _, err := tool.Ready(cmd)
	return &server{p}, err
}

// end ends the server, and returns its requests.
func (s *server) end() (all []request, err error) {
	s.In.Close()
	for d := json.NewDecoder(s.Out); d.More(); {
		var r request
		if err := d.Decode(&r); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, s.Wait()
}

// recorder returns the command that records a server.
func (s *server) recorder(folder, to string, d time.Duration, more ...string) *exec.Cmd {
	args := append([]string{"record", "-p", fmt.Sprint(s.Process.Pid), "-d", d.String(), "--rate", fmt.Sprint(*rate),
		"--max-cpu", *cores, "-f", "-o", filepath.Join(folder, to)}, more...)
	return exec.Command(filepath.Join(folder, "cpprof"), args...)
}

// record records a server, and returns what its clock says.
func record(folder, wait string) (*sampledata.Recording, []request, error) {
	s, err := serve(folder, wait)
	if err != nil {
		return nil, nil, err
	}
	length := time.Duration(*seconds) * time.Second
	err = tool.Run(s.recorder(folder, wait+".cpprof", length, "--calls", function))
	clock, endErr := s.end()
	if err = cmp.Or(err, endErr); err != nil {
		return nil, nil, err
	}
	r, err := sampledata.Open(filepath.Join(folder, wait+".cpprof"))
	return r, clock, err
}

// traced returns the execution trace of a server.
func traced(folder, wait string) (*sampledata.Recording, []request, error) {
	file := filepath.Join(folder, "trace")
	s, err := serve(folder, "-trace", file, wait)
	if err != nil {
		return nil, nil, err
	}
	time.Sleep(time.Duration(*seconds) * time.Second)
	clock, err := s.end()
	if err != nil {
		return nil, nil, err
	}
	r, err := interchange.ReadRecording(file)
	return r, clock, err
}

// groups are the calls that are compared.
var groups = []struct {
	name      string
	condition string
	from, to  float64 // of the server's requests, the shortest first
}{{"slowest 1 %", "> p99", 0.99, 1}, {"middle half", ">= p25 <= p75", 0.25, 0.75}}

// compare prints the shares of the parts of calls, and reports
// whether they and the first reason are right.
func compare(r *sampledata.Recording, name, wait string, clock []request) (good bool, err error) {
	begin, end := r.Header.Start.UnixNano(), r.Header.Start.Add(r.Stats().Duration).UnixNano()
	for _, t := range r.Calls { // not the time before the instruments were in
		if n := len(t.Windows); t.Function == name && n > 0 {
			begin = r.Header.Start.Add(t.Windows[0].From).UnixNano()
			end = r.Header.Start.Add(t.Windows[n-1].To).UnixNano()
		}
	}
	clock = slices.DeleteFunc(slices.Clone(clock), func(q request) bool { return q.Begin < begin || q.Begin+q.Took > end })
	slices.SortFunc(clock, func(a, b request) int { return cmp.Compare(a.Took, b.Took) })
	table, err := calls.Of(r, name)
	if err != nil {
		return false, err
	}
	most := 0.03
	if table.Source == calls.Samples {
		most = 0.05
	}
	fmt.Printf("%s by %s: %d requests by the clock, %d calls, %d samples\n", wait, table.Source, len(clock),
		len(table.Calls), r.Samples.Len())
	good = true
	for _, g := range groups {
		n := float64(len(clock))
		ours := shares(clock[int(g.from*n):int(g.to*n)])
		seen, err := seenIn(table, g.condition)
		if err != nil {
			return false, err
		}
		fmt.Printf("  %s:", g.name)
		for _, part := range slices.Sorted(maps.Keys(parts)) {
			if ours[part] == 0 && seen[part] == 0 {
				continue
			}
			mark := ""
			if math.Abs(ours[part]-seen[part]) > most {
				good, mark = false, " !!"
			}
			fmt.Printf("  %s clock %.1f %%, seen %.1f %%%s", part, 100*ours[part], 100*seen[part], mark)
		}
		fmt.Println()
	}
	c, err := table.Contrast(calls.Slowest, views.Options{})
	if err != nil {
		return false, err
	}
	reason := first(c)
	if !slices.ContainsFunc(wanted[wait], func(part string) bool { return strings.Contains(reason, part) }) {
		good = false
		reason += " !!"
	}
	fmt.Printf("  first reason of %d: %s\n", c.Slow.Calls, reason)
	return good, nil
}

// first returns what the slow calls surely have more of.
func first(c *calls.Contrast) string {
	if len(c.More) == 0 {
		return "none"
	}
	m := c.More[0]
	return strings.TrimSpace(fmt.Sprint(m.Kind, " ", m.Doing.Words(), " ", m.Lock, " ", m.Function, " ", m.Class))
}

// shares returns the shares of the parts in the time of requests.
func shares(all []request) map[string]float64 {
	parts := make(map[string]float64)
	whole := time.Duration(0)
	for _, r := range all {
		whole += time.Duration(r.Took)
		for part, took := range r.Parts {
			parts[part] += float64(took)
		}
	}
	for part := range parts {
		parts[part] /= float64(whole)
	}
	return parts
}

// seenIn returns the same by the samples of the calls for which
// a condition holds.
func seenIn(table *calls.Table, condition string) (map[string]float64, error) {
	c, err := calls.ParseCondition(condition)
	if err != nil {
		return nil, err
	}
	r, err := table.Restrict(c, false)
	if err != nil {
		return nil, err
	}
	v, err := views.Thread(r, "go:main.work", views.Options{})
	if err != nil {
		return nil, err
	}
	seen := make(map[string]float64)
	for part, name := range parts {
		path, err := callpath.Parse("* .." + name)
		if err != nil {
			return nil, err
		}
		total := callpath.Total(v.Tree, nil, path)
		seen[part], _ = v.Tree.Main().Cost(total.Weight).Float64()
	}
	return seen, nil
}
