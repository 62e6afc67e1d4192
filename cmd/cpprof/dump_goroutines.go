package main

import (
	"bufio"
	"context"
	"errors"

	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/spf13/cobra"
)

func newDumpGoroutinesCommand(t terminal) *cobra.Command {
	var process processFlag
	var backend string
	var asJSON bool
	c := &cobra.Command{
		Use:   "dump-goroutines -p PROCESS",
		Short: "Show what every goroutine of a running Go program does right now",
		Long: `dump-goroutines halts a running Go program once, for a moment, and prints what each of its
goroutines was doing. It groups goroutines with the same state, wait reason and stack, the largest
group first. Each group has its thread classes, its labels, the lock that it waits for and the
holder of that lock, the goroutines that can end a wait for a channel, a sync.WaitGroup or a
sync.Cond, and the stack, innermost call first.`,
		Example: `  cpprof dump-goroutines -p 4711
  cpprof dump-goroutines -p shop               # the only running Go program of this name
  cpprof dump-goroutines -p 4711 --json | jq '.groups[0].frames'`,
		GroupID: groupRecord,
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := needProcess(c); err != nil {
				return &usageError{err}
			}
			if _, err := findBackend(backend); err != nil {
				return &usageError{err}
			}
			pid, err := process.find()
			if err != nil {
				return err
			}
			r, err := haltOnce(c.Context(), t, pid, backend)
			if err != nil {
				return err
			}
			w := bufio.NewWriter(t.out)
			write := report.Goroutines
			if asJSON {
				write = report.GoroutinesJSON
			}
			if err := write(w, r); err != nil {
				return err
			}
			return w.Flush()
		},
	}
	c.Flags().SortFlags = false
	addProcess(c, &process, usualProcess)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	addBackend(c, &backend)
	return c
}

// haltOnce halts a program once, and returns a recording of that one sample.
func haltOnce(ctx context.Context, t terminal, pid int, backend string) (*sampledata.Recording, error) {
	ctx, signals := watchSignals(ctx)
	defer signals.stop()
	p, b, err := attachTo(t, pid, backend, anyProgram)
	if err != nil {
		return nil, err
	}
	defer p.Release()
	b = signals.suspendable(b)
	defer b.Close()
	r, err := sampler.Once(ctx, b)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, errors.New("interrupted")
	case err != nil:
		return nil, sampler.AttachError(pid, err)
	}
	return r, nil
}
