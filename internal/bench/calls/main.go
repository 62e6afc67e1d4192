// Calls holds what 'cpprof calls' says of slow calls against the clock of the server that made them. The server
// (testdata/programs/tardy) lets one request of fifty wait for something known, and times each part of each request:
//
//	go run ./internal/bench/calls                        all kinds of waits, 30 seconds each
//	go run ./internal/bench/calls -waits lock -seconds 10
//
// Of the slowest 1 % of the calls it prints, for each part, the share of their time by the server's clock and by the
// samples. It ends with status 1 if one differs by more than 5 points, or if the first reason is not the injected one,
// and with status 2 if it fails.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
)

var (
	waits   = flag.String("waits", "lock,channel,sleep,disk,two", "what the slow requests wait for")
	seconds = flag.Int("seconds", 30, "how long to record")
	rate    = flag.Int("rate", 100, "samples a second")
	cores   = flag.String("max-cpu", "30%", "the share of one core that cpprof may use")
)

const (
	function = "main.handle"
	most     = 0.05 // the difference of two shares
)

// functions has the function that does each part of a request.
var functions = map[string]string{"lock": "main.takeLock", "channel": "main.send", "sleep": "main.retry",
	"disk": "main.fsync", "ask": "main.ask", "compute": "main.compute"}

func main() {
	flag.Parse()
	good, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "calls:", err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

func run() (good bool, err error) {
	folder, err := os.MkdirTemp("", "calls")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(folder)
	for _, program := range []string{"cmd/cpprof", "testdata/programs/tardy"} {
		build := exec.Command("go", "build", "-trimpath", "-o", folder, "./"+program)
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return false, fmt.Errorf("building %s, at the top of the repository: %w", program, err)
		}
	}
	good = true
	for _, wait := range strings.Split(*waits, ",") {
		timed, err := record(folder, wait)
		if err != nil {
			return false, fmt.Errorf("%s: %w", wait, err)
		}
		ok, err := compare(filepath.Join(folder, wait+".cpprof"), wait, timed)
		if err != nil {
			return false, fmt.Errorf("%s: %w", wait, err)
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

// record records a server, and returns what its clock says.
func record(folder, wait string) ([]request, error) {
	server := exec.Command(filepath.Join(folder, "tardy"), wait)
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := server.Start(); err != nil {
		return nil, err
	}
	defer server.Wait()
	lines := bufio.NewReader(out)
	if _, err := lines.ReadString('\n'); err != nil {
		server.Process.Kill()
		return nil, err
	}
	recorder := exec.Command(filepath.Join(folder, "cpprof"), "record", "-p", fmt.Sprint(server.Process.Pid),
		"-d", fmt.Sprintf("%ds", *seconds), "--rate", fmt.Sprint(*rate), "--max-cpu", *cores,
		"-o", filepath.Join(folder, wait+".cpprof"))
	var said bytes.Buffer
	recorder.Stderr = &said
	err = recorder.Run()
	in.Close()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, said.String())
	}
	var all []request
	for d := json.NewDecoder(lines); d.More(); {
		var r request
		if err := d.Decode(&r); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// compare prints the shares of the parts of slow calls, and reports whether they and the first reason are right.
func compare(path, wait string, timed []request) (good bool, err error) {
	r, err := sampledata.Open(path)
	if err != nil {
		return false, err
	}
	begin, end := r.Header.Start.UnixNano(), r.Header.Start.Add(r.Stats().Duration).UnixNano()
	timed = slices.DeleteFunc(timed, func(q request) bool { return q.Begin < begin || q.Begin+q.Took > end })
	slices.SortFunc(timed, func(a, b request) int { return cmp.Compare(b.Took, a.Took) })
	table, err := calls.Of(r, function)
	if err != nil {
		return false, err
	}
	c, err := table.Contrast(calls.Slowest, views.Options{})
	if err != nil {
		return false, err
	}
	clock := shares(timed[:len(timed)/100])
	seen, err := sampled(table)
	if err != nil {
		return false, err
	}
	fmt.Printf("%s: %d requests by the clock, %d calls by %d samples; %d slow\n", wait, len(timed), len(table.Calls),
		r.Samples.Len(), c.Slow.Calls)
	good = true
	for _, part := range []string{"lock", "channel", "sleep", "disk", "ask", "compute"} {
		if clock[part] == 0 && seen[part] == 0 {
			continue
		}
		mark := ""
		if math.Abs(clock[part]-seen[part]) > most {
			good, mark = false, " !!"
		}
		fmt.Printf("  %-8s clock %5.1f %%   samples %5.1f %%%s\n", part, 100*clock[part], 100*seen[part], mark)
	}
	reason := first(c)
	if !strings.Contains(reason, wantedReason[wait]) {
		good = false
		reason += " !!"
	}
	fmt.Printf("  first reason: %s\n", reason)
	return good, nil
}

// wantedReason has a part of the right first reason.
var wantedReason = map[string]string{"lock": "go:main.refresh", "channel": "main.send", "sleep": "main.retry",
	"disk": "main.fsync", "two": "main."}

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

// sampled returns the same by the samples of the slow calls.
func sampled(table *calls.Table) (map[string]float64, error) {
	r, err := table.Restrict(calls.Slowest)
	if err != nil {
		return nil, err
	}
	v, err := views.Thread(r, "go:main.work", views.Options{})
	if err != nil {
		return nil, err
	}
	parts := make(map[string]float64)
	for part, name := range functions {
		path, err := callpath.Parse("* .." + name)
		if err != nil {
			return nil, err
		}
		total := callpath.Total(v.Tree, nil, path)
		parts[part], _ = v.Tree.Main().Cost(total.Weight).Float64()
	}
	return parts, nil
}
