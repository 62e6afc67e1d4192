package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/spf13/cobra"
)

// perturbFlags are the flags of perturb.
type perturbFlags struct {
	recordFlags
	runs     int
	turn     time.Duration
	base     string
	progress []string
	json     bool
}

// What a recording is compared with.
const (
	baseNothing = "nothing" // the program alone
	baseStacks  = "stacks"  // a recording without monitors
)

func newPerturbCommand(t terminal) *cobra.Command {
	var f perturbFlags
	c := &cobra.Command{
		Use:   "perturb [flags] -- COMMAND [ARGUMENT...]\n  cpprof monitors perturb [flags] -p PROCESS",
		Short: "Measure what recording a program changes in it",
		Long: `perturb runs a command -n times with a recording, and as often without one, and compares how
long it took, the processor time, memory, faults and switches. It prints each difference, the
interval that has the true one with a probability of 95 % (Welch), and whether the difference
is more than chance. No recording is kept, and the command's output is dropped.

With -p, it samples a running program in half of the turns of -d, in random order, and compares
the rates of all monitors and metrics in these turns. --progress names what says how fast the
program works, such as the rate of the requests that it served; it comes first.

--base stacks compares with a recording without monitors: that is what the monitors add.`,
		Example: `  cpprof monitors perturb -n 10 -- ./batch input.txt
  cpprof monitors perturb -p 4711 -m main.served --progress 'rate(main.served)'`,
		PreRunE: usageArgs(f.check),
		RunE: func(c *cobra.Command, args []string) error {
			ctx, signals := watchSignals(c.Context())
			defer signals.stop()
			p, err := f.measure(ctx, t, args)
			if err != nil {
				return err
			}
			metrics.Compare(p.Effects)
			return t.print(p, f.json)
		},
	}
	flags := c.Flags()
	flags.SetInterspersed(false) // what follows COMMAND is the command's
	addRounds(c, &f.runs, 5)
	addProcess(c, &f.process)
	flags.StringArrayVar(&f.progress, "progress", nil,
		"with -p: a `METRIC` that says how fast the program works, such as rate(main.served) (may be repeated)")
	addDuration(c, &f.turn, 2*time.Second)
	flags.StringVar(&f.base, "base", baseNothing,
		"compare with `WHAT`: nothing (the program alone), or stacks (a recording without monitors)")
	addMonitorFlags(c, &f.monitors, &f.noMonitors)
	flags.BoolVar(&f.json, "json", false, "print JSON")
	f.samplerFlags.add(c)
	completeWords(c, "base", baseNothing, baseStacks)
	return c
}

// check returns an error if the flags and arguments don't fit together.
func (f *perturbFlags) check(c *cobra.Command, args []string) error {
	attached := c.Flags().Changed("pid")
	switch {
	case !attached && len(args) == 0:
		return errors.New("give a command (cpprof monitors perturb -- ./batch) or a process (cpprof monitors perturb -p PROCESS)")
	case f.runs < 2 || f.runs > 1000:
		return fmt.Errorf("--count %d: want 2 to 1000: one value has no deviation", f.runs)
	case f.base != baseNothing && f.base != baseStacks:
		return fmt.Errorf("--base %s: want %s or %s", f.base, baseNothing, baseStacks)
	case f.base == baseStacks && f.noMonitors:
		return errors.New("--base stacks --no-monitors compares a recording with itself: leave one of them out")
	case f.base == baseStacks && attached:
		return errors.New("--base stacks is for a command: turns of one recording can't leave out its monitors")
	case f.turn < 200*time.Millisecond:
		return fmt.Errorf("--duration %v: want turns of 200ms or more", f.turn)
	case len(f.progress) > 0 && !attached:
		return errors.New("--progress is for a running program (-p): of a command, the time that it took counts")
	}
	return f.recordFlags.check(c, args)
}

func (f *perturbFlags) measure(ctx context.Context, t terminal,
	command []string) (*report.Perturbation, error) {
	if len(command) == 0 {
		return f.inTurns(ctx, t)
	}
	return f.inRuns(ctx, t, command)
}

// inRuns runs a command with and without a recording in turn.
func (f *perturbFlags) inRuns(ctx context.Context, t terminal,
	command []string) (*report.Perturbation, error) {
	program, err := sampler.LookPath(command[0])
	if err != nil {
		return nil, err
	}
	if f.follows(program, command[1:]) {
		return nil, fmt.Errorf("%s starts other programs: build the program, and name it",
			command[0])
	}
	p := &report.Perturbation{What: fmt.Sprintf("%s with and without a recording", command[0]),
		Runs: fmt.Sprintf("%d runs each", f.runs)}
	if f.base == baseStacks {
		p.What = command[0] + " recorded with and without monitors"
	}
	for run := range 2 * f.runs {
		with := run%2 == run/2%2 // with, without, without, with, ...: so that a drift is in both
		tell(t.err, "run %d of %d", run+1, 2*f.runs)
		spent, err := f.run(ctx, t, program, command, with)
		if err != nil {
			return nil, err
		}
		if p.Effects == nil {
			p.Effects = make([]metrics.Effect, len(spent))
		}
		for i, v := range spent {
			e := &p.Effects[i]
			e.Name, e.Unit = v.name, v.unit
			if with {
				e.With = append(e.With, v.value)
			} else {
				e.Without = append(e.Without, v.value)
			}
		}
	}
	return p, nil
}

// run runs the command once, and returns what it took.
func (f *perturbFlags) run(ctx context.Context, t terminal, program string, command []string,
	recorded bool) ([]quantity, error) {
	cmd := exec.Command(program, command[1:]...)
	cmd.Args[0] = command[0]
	began := time.Now()
	var process *sampler.Process
	var err error
	if recorded || f.base == baseStacks {
		o := f.options
		if !recorded {
			o.Monitors = nil
		}
		process, err = f.recorded(ctx, cmd, program, o)
	} else {
		process, err = sampler.LaunchCommand(cmd)
	}
	if process != nil {
		defer process.Release()
	}
	if err != nil {
		return nil, err
	}
	end, err := process.Wait(ctx)
	if err != nil {
		endLaunched(context.WithoutCancel(ctx), t, process)
		return nil, fmt.Errorf("run %s: %w", command[0], context.Cause(ctx))
	}
	took := time.Since(began)
	if end.Cause != sampledata.EndExited || end.ExitStatus != 0 {
		return nil, fmt.Errorf("run %s: it failed (%s): a run that fails says nothing", command[0],
			end.Detail)
	}
	state := cmd.ProcessState
	return append([]quantity{
		{"elapsed", "s", took.Seconds()},
		{"processor time", "s", (state.UserTime() + state.SystemTime()).Seconds()},
		{"of the kernel", "s", state.SystemTime().Seconds()},
	}, used(state)...), nil
}

// recorded launches the command and records it until it ends.
func (f *perturbFlags) recorded(ctx context.Context, cmd *exec.Cmd, program string,
	o sampler.Options) (*sampler.Process, error) {
	attach, err := backends[f.backend].open(program)
	if err != nil {
		return nil, fmt.Errorf("launch: %w", err)
	}
	p, err := sampler.LaunchCommand(cmd)
	if err != nil {
		return nil, err
	}
	b, err := attach(p)
	if err != nil {
		return p, err
	}
	defer b.Close()
	dir, err := os.MkdirTemp("", "cpprof-perturb-")
	if err != nil {
		return p, err
	}
	defer os.RemoveAll(dir)
	w, err := f.outputs.create(filepath.Join(dir, "run.cpprof"), b.Header())
	if err != nil {
		return p, err
	}
	_, err = sampler.Record(ctx, p, b, w, o)
	return p, err
}

// A quantity is something that a run took.
type quantity struct {
	name, unit string
	value      float64
}
