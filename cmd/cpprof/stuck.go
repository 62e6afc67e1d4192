package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/cpprof/cpprof/internal/live"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/heap"
	"github.com/spf13/cobra"
)

// stuckFlags are the flags of stuck.
type stuckFlags struct {
	process   processFlag
	input     inputFlags
	failAbove shareFlag // of the goroutines
	maxHalt   time.Duration
	maxCPU    shareFlag
}

func newStuckCommand(t terminal) *cobra.Command {
	var f stuckFlags
	c := &cobra.Command{
		Use:   "stuck -p PROCESS\n  cpprof stuck RECORDING\n  cpprof stuck CORE --program EXECUTABLE\n  cpprof stuck [flags] -- COMMAND [ARGUMENT...]",
		Short: "Name goroutines that can never run again, and whose fault that is",
		Long: `stuck finds goroutines that wait for a channel, a lock, a group or a condition which nothing
that can run reaches: they are stuck for good. It says what each waits for, and why that never
comes. Goroutines that wait only for those are counted with them.

It marks the program's heap as the garbage collector does, from outside, while the program runs.
Only if something is suspected, it halts the program once and copies what may have a pointer: that
is a proof. A halt longer than --max-halt is not made. What is doubtful is not claimed. A recording
has what 'cpprof record' found in that way.

With a command, it examines the program and the Go programs that it starts again and again, and
says what was stuck when each ended: 'cpprof stuck -- go test ./...'.`,
		Example: `  cpprof stuck -p 4711
  cpprof stuck -p shop --json | jq '.findings[0].cause'
  cpprof stuck run.cpprof                      # what 'cpprof record' found
  cpprof stuck core --program ./shop
  cpprof stuck --fail-above 0 -- go test ./...  # for CI: status 3 if anything is stuck`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			switch {
			case c.ArgsLenAtDash() == 0 && len(args) > 0:
				return f.command(c.Context(), t, args)
			case len(args) == 1 && !c.Flags().Changed("pid"):
				return f.file(t, args[0])
			case len(args) > 0:
				return usagef("give only one: a process (-p PROCESS), a recording, a core dump or a command (-- COMMAND)")
			}
			if err := needProcess(c); err != nil {
				return &usageError{err}
			}
			pid, err := f.process.find()
			if err != nil {
				return err
			}
			return f.running(c.Context(), t, pid)
		},
	}
	addProcess(c, &f.process)
	f.input.addJSON(c)
	addFailAbove(c, &f.failAbove)
	addMaxHalt(c, &f.maxHalt)
	addMemory(c, &f.input.memory)
	addMaxCPU(c, &f.maxCPU, 1)
	f.input.err, f.input.errIsTerminal = t.err, t.errIsTerminal
	addProgram(c, &f.input.program)
	return c
}

// check returns an error if a flag is out of range.
func (f *stuckFlags) check() error {
	if f.input.memory != 0 && f.input.memory < 16<<20 {
		return usagef("--max-memory: want at least 16MB")
	}
	if f.maxHalt == 0 {
		return usagef("--max-halt 0 leaves the heap unread, and stuck is about the heap")
	}
	return checkMaxHalt(f.maxHalt)
}

// limits returns the limits of an examination.
func (f *stuckFlags) limits() heap.Config {
	return heap.Config{
		MaxHalt: f.maxHalt, MaxMemory: cmp.Or(int64(f.input.memory), memory.Default()),
		MaxCPU: cmp.Or(min(f.maxCPU.float(), 1), 1), // without a limit, it marks on one core
	}
}

// running examines a process that runs.
func (f *stuckFlags) running(ctx context.Context, t terminal, pid int) error {
	ctx, signals := watchSignals(ctx)
	defer signals.stop()
	p, b, err := attachTo(t, pid, defaultBackend, anyProgram)
	if err != nil {
		return err
	}
	defer p.Release()
	b = signals.suspendable(b)
	defer b.Close()
	limits := f.limits()
	line := newStatusLine(t.err, t.errIsTerminal, 500*time.Millisecond)
	limits.Progress = func(p heap.Progress) {
		line.show("pass %d: %d of %d MB ", p.Pass, p.Scanned>>20, p.Whole>>20)
	}
	r, err := live.Marked(ctx, p, b, limits)
	line.clear()
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	if err != nil {
		return sampler.AttachError(pid, err)
	}
	return f.show(t, []*report.Stuck{report.StuckOf(r, filepath.Base(p.Name))})
}

// show prints answers, and returns a *statusError if more is stuck than
// --fail-above allows.
func (f *stuckFlags) show(t terminal, answers []*report.Stuck) error {
	n, all := 0, 0
	for i, a := range answers {
		n, all = n+a.Answer.Stuck, all+a.Marking.Goroutines
		if i > 0 && !f.input.json {
			termtext.Fprintf(t.out, "\n")
		}
		if err := t.print(a, f.input.json); err != nil {
			return err
		}
	}
	if f.failAbove.value == nil || n == 0 ||
		big.NewRat(int64(n), int64(all)).Cmp(f.failAbove.value) <= 0 {
		return nil
	}
	tell(t.err, "more than %s: %d of %s stuck for good", f.failAbove.text, n,
		report.Counted(all, "goroutine"))
	return &statusError{exitAbove}
}

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
	case r.Profile != nil:
		return (&source{path: path, recording: r}).needSamples("goroutines that could be stuck")
	case r.Header.Sampler.Backend != sampledata.FromDump:
		return usagef("%s: %s", path, report.Unmarked(r))
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
