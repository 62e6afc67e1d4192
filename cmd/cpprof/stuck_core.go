package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/heap"
	"github.com/cpprof/cpprof/why/stuck"
)

// core examines a core dump.
func (f *stuckFlags) core(t terminal, path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usagef("there is no file %s: give a core dump, or a process with -p", path)
	case err != nil:
		return err
	case info.IsDir():
		return usagef("%s: there is no marking in this recording: give the process (-p PROCESS), or a core dump of it", path)
	}
	r, err := f.input.oneSample(path) // it says what is missing, or wrong with the file
	if err != nil {
		return err
	}
	if r.Header.Sampler.Backend != sampledata.FromDump || f.input.program == "" {
		return usagef("%s: there is no heap in it: give a core dump and --program, or a process with -p", path)
	}
	dump, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dump.Close()
	program, err := os.Open(f.input.program)
	if err != nil {
		return err
	}
	defer program.Close()
	x, err := heap.OfCore(dump, program, f.limits())
	if err != nil {
		return err
	}
	var limit *heap.LimitError
	if err := x.Prove(context.Background()); err != nil && !errors.As(err, &limit) {
		return err
	}
	if limit != nil && !x.Proved() {
		return usagef("%s: its heap has %d MB: raise --max-memory", path, limit.Memory>>20)
	}
	return f.show(t, []*report.Stuck{{
		Answer: stuck.Find(r, x.Result(nil)), Program: filepath.Base(f.input.program), PID: r.Header.PID, Basis: report.BasisOf(r),
	}})
}
