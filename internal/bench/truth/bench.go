//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/bench/tool"
)

// A bench has the programs that are run, and how.
type bench struct {
	dir, cpprof, work string
	keep              string // folder for recordings and traces, if they are kept
	length            time.Duration
	flags             []string // further ones, of cpprof record
	others            int      // number of programs that compute meanwhile
	clockOnly         bool     // runs are not traced, only the CPU clock is compared
	pinned            bool     // programs run on the first CPU that this program may use
}

// newBench builds the programs.
func newBench() (*bench, error) {
	dir, err := tool.Build("internal/bench/truth/work", "cmd/cpprof")
	if err != nil {
		return nil, err
	}
	return &bench{dir: dir, work: filepath.Join(dir, "work"), cpprof: filepath.Join(dir, "cpprof")}, nil
}

func (b *bench) close() { os.RemoveAll(b.dir) }

// choose returns the workloads that a list with commas names;
// all of them if it is empty.
func (b *bench) choose(list string) ([]string, error) {
	known, err := b.workloads()
	if err != nil || list == "" {
		return known, err
	}
	names := strings.Split(list, ",")
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("there is no such workload; there are %s", strings.Join(known, ", "))
		}
	}
	return names, nil
}

// repeated observes a program a number of times, and returns the
// mean of what the runs say.
func (b *bench) repeated(name string, times int, observe func(*observation, string) error) (*comparison, error) {
	var runs []*comparison
	for i := range times {
		c, err := b.once(name, i, observe)
		if err != nil {
			return nil, err
		}
		runs = append(runs, c)
	}
	return combine(runs), nil
}

func (b *bench) once(name string, run int, observe func(*observation, string) error) (*comparison, error) {
	stop, err := b.compute(b.others)
	defer stop()
	if err != nil {
		return nil, err
	}
	folder := b.keep
	if folder == "" {
		if folder, err = os.MkdirTemp(b.dir, "run-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(folder)
	} else if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	base := filepath.Join(folder, fmt.Sprintf("%s-%d", strings.ReplaceAll(name, " ", "-"), run+1))
	o := &observation{recording: base + ".cpprof"}
	if !b.clockOnly {
		o.trace = base + ".trace"
	}
	if err := observe(o, name); err != nil {
		return nil, err
	}
	if b.clockOnly {
		return compareClock(o)
	}
	return compareRun(o)
}
