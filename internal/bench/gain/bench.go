//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/cpprof/cpprof/why"
)

// A bench has what the command line says.
type bench struct {
	dir    string
	turns  int
	length time.Duration
	names  *regexp.Regexp
}

// programs are the programs with the function that is their cost.
var programs = []struct{ name, cost string }{
	{"lock-compute", "updates"}, {"lock-io", "writes"}, {"compute", "computes"},
	{"other-lock", "computes"}, {"io", "asks"}, {"pool", "queries"}, {"shift", "updates"},
	{"think", "asks"}, {"single", "computes"}, {"open-compute", "computes"},
	{"open-lock", "writes"}, {"open-pool", "queries"},
}

// A speed is how fast a program worked.
type speed struct{ rate, each float64 } // pieces a second, and seconds a piece

// A row is a prediction beside the truth. The factors are of the rate or, if a
// program is open, of the time of a piece.
type row struct {
	name, left      string
	gain            *why.Gain
	measured, times float64
	low, high       float64
}

func (b *bench) run() error {
	var err error
	if b.dir, err = os.MkdirTemp("", "cpprof-gain-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	for _, pkg := range []string{"./cmd/cpprof", "./testdata/programs/effects"} {
		build := exec.Command("go", "build", "-trimpath", "-o", b.dir+"/", pkg)
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", pkg, err, out)
		}
	}
	var rows []row
	for _, p := range programs {
		if !b.names.MatchString(p.name) {
			continue
		}
		of, err := b.program(p.name, "main.(*server)."+p.cost)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		rows = append(rows, of...)
	}
	printTable(rows)
	return nil
}

// program measures one program, in turns with the cost and without, and asks
// for the prediction.
func (b *bench) program(name, cost string) (rows []row, err error) {
	recording := filepath.Join(b.dir, name+".cpprof")
	speeds := make(map[string][]speed)
	for turn := range b.turns {
		for _, left := range []string{"all", "half", "none"} {
			record := ""
			if turn == 0 && left == "all" {
				record = recording
			}
			s, err := b.measure(name, left, record)
			if err != nil {
				return nil, err
			}
			speeds[left] = append(speeds[left], s)
		}
	}
	for _, left := range []string{"half", "none"} {
		without := cost
		if left == "half" {
			without = "half of " + cost
		}
		out, err := exec.Command(filepath.Join(b.dir, "cpprof"), "why", recording, "--json",
			"--without", without).Output()
		if err != nil {
			return nil, err
		}
		var answer why.Removal
		if err := json.Unmarshal(out, &answer); err != nil {
			return nil, err
		}
		rows = append(rows, compared(name, left, answer.Gain, speeds["all"], speeds[left]))
	}
	return rows, nil
}

// compared puts a prediction beside the medians of what was measured.
func compared(name, left string, g *why.Gain, with, without []speed) row {
	r := row{name: name, left: left, gain: g}
	rate := func(s speed) float64 { return s.rate }
	each := func(s speed) float64 { return s.each }
	if f := g.Times; f != nil {
		r.measured = median(without, rate) / median(with, rate)
		r.times, r.low, r.high = f.Times, f.Low, f.High
	} else if l := g.Less; l != nil {
		r.measured = median(with, each) / median(without, each)
		r.times, r.low, r.high = 1/(1-l.Share), 1/(1-l.Low), 1/(1-l.High)
	}
	return r
}

func median(all []speed, of func(speed) float64) float64 {
	var list []float64
	for _, s := range all {
		list = append(list, of(s))
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// measure runs a program once, and records it if a file is given.
func (b *bench) measure(name, left, recording string) (s speed, err error) {
	args := []string{name, left}
	if left == "all" {
		args = args[:1]
	}
	c := exec.Command(filepath.Join(b.dir, "effects"), args...)
	out, err := c.StdoutPipe()
	if err != nil {
		return s, err
	}
	if err := c.Start(); err != nil {
		return s, err
	}
	defer func() { _ = c.Wait() }() // it is killed
	defer func() { _ = c.Process.Kill() }()
	lines := bufio.NewScanner(out)
	first, err := progress(lines)
	if err != nil {
		return s, err
	}
	if recording != "" {
		record := exec.Command(filepath.Join(b.dir, "cpprof"), "record", "-p",
			fmt.Sprint(c.Process.Pid), "-d", b.length.String(), "-o", recording)
		if out, err := record.CombinedOutput(); err != nil {
			return s, fmt.Errorf("%w\n%s", err, out)
		}
	}
	for {
		last, err := progress(lines)
		if err != nil {
			return s, err
		}
		if time.Duration(last[2]-first[2]) >= b.length {
			done, spent := float64(last[0]-first[0]), float64(last[1]-first[1])
			return speed{done / float64(last[2]-first[2]), spent / done}, nil
		}
	}
}

// progress reads one line of a program: pieces done, time spent, time since
// it began.
func progress(lines *bufio.Scanner) (p [3]int64, err error) {
	if !lines.Scan() {
		return p, fmt.Errorf("the program ended: %v", lines.Err())
	}
	_, err = fmt.Sscan(lines.Text(), &p[0], &p[1], &p[2])
	return p, err
}
