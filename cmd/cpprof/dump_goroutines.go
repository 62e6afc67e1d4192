package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/spf13/cobra"
)

func newDumpGoroutinesCommand(t terminal) *cobra.Command {
	var process processFlag
	var backend, address string
	var input inputFlags
	var maxHalt time.Duration
	c := &cobra.Command{
		Use:   "dump-goroutines -p PROCESS\n  cpprof dump-goroutines FILE [--program EXECUTABLE]\n  cpprof dump-goroutines --connect HOST:PORT --program EXECUTABLE",
		Short: "Show what every goroutine of a running Go program does right now",
		Long: `dump-goroutines halts a running Go program once, for a moment, and prints what each of its
goroutines was doing. It groups goroutines with the same state, wait reason and stack, the largest
group first. Each group has its thread classes, its labels, the lock that it waits for and the
holder of that lock, the goroutines that can end a wait for a channel, a sync.WaitGroup or a
sync.Cond, and the stack, innermost call first. Goroutines that can never run again are marked:
see 'cpprof stuck --help'. --max-halt 0 leaves that out.

It shows the same of a core dump of a program, and of a goroutine dump.`,
		Example: `  cpprof dump-goroutines -p 4711
  cpprof dump-goroutines -p shop               # the only running Go program of this name
  cpprof dump-goroutines core --program ./shop
  cpprof dump-goroutines -p 4711 --json | jq '.groups[0].frames'`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			var r *sampledata.Recording
			var err error
			switch {
			case address != "":
				r, err = dumpedElsewhere(c, address, input.program, args)
			case len(args) == 1 && !c.Flags().Changed("pid"):
				if r, err = input.oneSample(args[0]); err == nil {
					err = markCore(t, r, args[0], &input, maxHalt)
				}
			default:
				r, err = dumpedProcess(c, t, process, backend, maxHalt, args)
			}
			if err != nil {
				return err
			}
			termtext.Fprintf(t.err, "%s", termtext.Text(report.Warnings(r.Warnings)))
			return t.print(report.Goroutines{Recording: r}, input.json)
		},
	}
	addProcess(c, &process)
	addConnect(c, &address)
	input.addJSON(c)
	addBackend(c, &backend)
	addMaxHalt(c, &maxHalt)
	input.addInput(c, t)
	input.addFormat(c)
	addProgram(c, &input.program)
	return c
}

// oneSample reads a file that has one sample.
func (f *inputFlags) oneSample(path string) (*sampledata.Recording, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, usagef("there is no file %s: give a core dump or a goroutine dump, or a process with -p", path)
	}
	r, err := f.recordingAt(path)
	if err != nil {
		return nil, err
	}
	if r.Profile != nil || r.Samples.Len() != 1 {
		return nil, usagef("%s is no dump of goroutines at one time: 'cpprof report' shows it",
			path)
	}
	return r, nil
}

// dumpedProcess halts the process that the flags name, once. If
// maxHalt is not 0, it also marks the heap.
func dumpedProcess(c *cobra.Command, t terminal, process processFlag, backend string,
	maxHalt time.Duration, args []string) (*sampledata.Recording, error) {
	if len(args) > 0 {
		return nil, usagef("give a process (-p PROCESS) or a file, not both")
	}
	if err := needProcess(c); err != nil {
		return nil, &usageError{err}
	}
	if _, err := findBackend(backend); err != nil {
		return nil, &usageError{err}
	}
	pid, err := process.find()
	if err != nil {
		return nil, err
	}
	ctx, signals := watchSignals(c.Context())
	defer signals.stop()
	p, b, err := attachTo(t, pid, backend, anyProgram)
	if err != nil {
		return nil, err
	}
	var o sampler.Options
	if err := setMark(&o, maxHalt, backend, 0); err != nil {
		p.Release()
		return nil, errors.Join(err, b.Close())
	}
	return haltTarget(ctx, signals, target{Process: p, backend: b}, o.Mark)
}

// dumpedElsewhere halts the program of a Delve server once.
func dumpedElsewhere(c *cobra.Command, address, program string,
	args []string) (*sampledata.Recording, error) {
	if err := checkConnect(c, address, program, args); err != nil {
		return nil, &usageError{err}
	}
	ctx, signals := watchSignals(c.Context())
	defer signals.stop()
	target, err := connected(address, program, anyProgram)
	if err != nil {
		return nil, err
	}
	return haltTarget(ctx, signals, target, nil)
}

// haltTarget halts a target once, and closes it. Before, it
// marks the heap if mark is not nil.
func haltTarget(ctx context.Context, signals *signals, target target,
	mark sampler.Marker) (*sampledata.Recording, error) {
	defer target.Release()
	b := signals.suspendable(target.backend)
	defer b.Close()
	var marking *sampledata.Marking
	if mark != nil {
		marking, _ = mark(ctx, b) // without it, the dump is complete all the same
	}
	r, err := sampler.Once(ctx, b)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, errors.New("interrupted")
	case err != nil:
		return nil, sampler.AttachError(target.PID, err)
	}
	r.Marking = marking
	return r, nil
}
