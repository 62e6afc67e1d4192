//go:build linux

// Gain compares what 'cpprof why --without' predicts with what is measured.
// From the top of the repository:
//
//	go run ./internal/bench/gain [-turns 5] [-d 5s] [-run REGEXP]
//
// runs the programs of testdata/programs/effects, whose costs
// have a known effect: with the cost, with half of it, and
// without. The prediction is of the first turn's recording with
// the cost. It prints both for each program, how well they
// agree, and where cpprof was silent, with its reason.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"

	"github.com/cpprof/cpprof/internal/bench/forecast"
	"github.com/cpprof/cpprof/internal/bench/tool"
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

// A row is a prediction beside the truth; a gain may be silent.
type row struct {
	name, left string
	gain       *why.Gain
	forecast.Forecast
	known bool
}

func main() {
	b := &bench{}
	flag.IntVar(&b.turns, "turns", 5, "how often each program is run")
	flag.DurationVar(&b.length, "d", 5*time.Second, "how long it is recorded and measured")
	pattern := flag.String("run", "", "only the programs whose names match")
	flag.Parse()
	b.names = regexp.MustCompile(*pattern)
	tool.Main("gain", func() (good bool, err error) { return true, b.run() })
}

func (b *bench) run() error {
	var err error
	if b.dir, err = tool.Build("cmd/cpprof", "testdata/programs/effects"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
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

// program measures one program, in turns with the cost and
// without, and asks for the prediction.
func (b *bench) program(name, cost string) (rows []row, err error) {
	recording := filepath.Join(b.dir, name+".cpprof")
	speeds := make(map[string][]forecast.Speed)
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
		r := row{name: name, left: left, gain: answer.Gain}
		r.Forecast, r.known = forecast.Of(answer.Gain, median(speeds["all"]), median(speeds[left]))
		rows = append(rows, r)
	}
	return rows, nil
}

// median returns the medians of what was measured.
func median(all []forecast.Speed) forecast.Speed {
	var rates, each []float64
	for _, s := range all {
		rates, each = append(rates, s.Rate), append(each, s.Each)
	}
	return forecast.Speed{Rate: tool.Median(rates), Each: tool.Median(each)}
}

// measure runs a program once, and records it if a file is given.
func (b *bench) measure(name, left, recording string) (s forecast.Speed, err error) {
	args := []string{name, left}
	if left == "all" {
		args = args[:1]
	}
	p, err := tool.Start(exec.Command(filepath.Join(b.dir, "effects"), args...))
	if err != nil {
		return s, err
	}
	defer p.End()
	first, err := progress(p.Out)
	if err != nil {
		return s, err
	}
	if recording != "" {
		if err := tool.Run(exec.Command(filepath.Join(b.dir, "cpprof"), "record", "-p",
			fmt.Sprint(p.Process.Pid), "-d", b.length.String(), "-o", recording)); err != nil {
			return s, err
		}
	}
	for {
		last, err := progress(p.Out)
		if err != nil {
			return s, err
		}
		if time.Duration(last[2]-first[2]) >= b.length {
			done, spent := float64(last[0]-first[0]), float64(last[1]-first[1])/1e9
			return forecast.Speed{Rate: done / float64(last[2]-first[2]) * 1e9, Each: spent / done}, nil
		}
	}
}

// progress reads one line of a program: pieces done, time spent,
// time since it began.
func progress(out io.Reader) (p [3]int64, err error) {
	_, err = fmt.Fscanln(out, &p[0], &p[1], &p[2])
	return p, err
}

// printTable prints the table, and how well predictions agree
// with what was measured.
func printTable(rows []row) {
	fmt.Println("program       left  law      measured  predicted")
	var known []forecast.Forecast
	for _, r := range rows {
		if !r.known {
			fmt.Printf("%-13s %-5s silent: %s\n", r.name, r.left, r.gain.Silent)
			continue
		}
		known = append(known, r.Forecast)
		fmt.Printf("%-13s %-5s %-8s %8.2f  %8.2f (%.2f to %.2f)\n", r.name, r.left, r.gain.Law,
			r.Measured, r.Times, r.Low, r.High)
	}
	fmt.Printf("%s; %d silent\n", forecast.Agreement(known), len(rows)-len(known))
}
