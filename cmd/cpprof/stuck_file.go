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
)

// file shows what a recording has, or examines a core dump.
func (f *stuckFlags) file(t terminal, path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return usagef("there is no file %s: give a recording, a core dump, or a process with -p",
			path)
	}
	r, err := f.input.recordingAt(path) // it says what is missing, or wrong with the file
	if err != nil {
		return err
	}
	program := r.Header.Executable
	switch {
	case r.Marking != nil:
	case r.Header.Sampler.Backend != sampledata.FromDump || r.Profile != nil:
		return usagef("%s: %s", path, report.Unmarked)
	case f.input.program == "":
		return usagef("%s: there is no heap in it: give a core dump and --program, or a process with -p", path)
	default:
		program = f.input.program
		if r.Marking, err = coreMarking(path, program, f.limits()); err != nil {
			return err
		}
	}
	return f.show(t, []*report.Stuck{report.StuckOf(r, filepath.Base(program))})
}

// coreMarking examines a core dump of a program.
func coreMarking(path, executable string, limits heap.Config) (*sampledata.Marking, error) {
	dump, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dump.Close()
	program, err := os.Open(executable)
	if err != nil {
		return nil, err
	}
	defer program.Close()
	x, err := heap.OfCore(dump, program, limits)
	if err != nil {
		return nil, err
	}
	var limit *heap.LimitError
	if err := x.Prove(context.Background()); err != nil && !errors.As(err, &limit) {
		return nil, err
	}
	if limit != nil && !x.Proved() {
		return nil, usagef("%s: its heap has %d MB: raise --max-memory", path, limit.Memory>>20)
	}
	return x.Result(nil).Marking(0), nil
}
