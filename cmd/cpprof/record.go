package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/spf13/cobra"
)

// recordFlags say what to record, and how.
type recordFlags struct {
	output string
	force  bool
	pid    int
	samplerFlags
}

func newRecordCommand(t terminal) *cobra.Command {
	var f recordFlags
	c := &cobra.Command{
		Use:     "record [flags] -- COMMAND [ARGUMENT...]\n  cpprof record [flags] -p PID",
		GroupID: groupRecord,
		Short:   "Record a running Go program, launched or attached to",
		Long: `record halts a Go program for a moment, again and again, and writes what every goroutine was doing
into a folder, PROGRAM-DATE.cpprof unless -o names another.

The program is not changed, and goes on whatever happens to cpprof. The recording ends when the
duration is over, when the program ends, or by Ctrl-C (SIGINT, SIGTERM); a second one ends cpprof
at once.

A launched program has cpprof's standard input, output and error, and cpprof ends with its exit
status. Ctrl-C at the terminal reaches the program as it would without cpprof, which then waits
for it to end. When only the recording is over (the duration, or a signal to cpprof alone),
cpprof ends and the program goes on.

Halts are spread at random over their interval, so that a periodic program is not always met
at the same point. They are made less frequent where the program would stand still for more than
the overhead allowed, or cpprof itself would use more of a processor than --max-cpu allows;
'cpprof info' shows what was achieved.`,
		Example: `  cpprof record -o run.cpprof -d 10s -- ./server -flag
  cpprof record -p 4711                        # until Ctrl-C
  cpprof record --rate 100 --max-overhead 5% -d 1m -p 4711`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c, args); err != nil {
				return &usageError{err}
			}
			return record(c.Context(), t, &f, args)
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.SetInterspersed(false) // what follows COMMAND is the command's
	flags.StringVarP(&f.output, "output", "o", "", "the `folder` to write (default PROGRAM-DATE.cpprof)")
	flags.BoolVarP(&f.force, "force", "f", false, "replace a recording that is already there")
	flags.IntVarP(&f.pid, "pid", "p", 0, "attach to the running process `PID`")
	flags.DurationVarP(&f.options.Duration, "duration", "d", 0, "how long to record, such as 10s (default until something else ends it)")
	f.samplerFlags.add(c)
	return c
}

// check finds calls that make no sense.
func (f *recordFlags) check(c *cobra.Command, args []string) error {
	attach := c.Flags().Changed("pid")
	switch {
	case attach && len(args) > 0:
		return errors.New("give either a process (-p PID) or a command, not both")
	case !attach && len(args) == 0:
		return errors.New("give a command (cpprof record -- ./server) or a process (cpprof record -p PID)")
	}
	return f.samplerFlags.check(c)
}

// record makes one recording.
func record(ctx context.Context, t terminal, f *recordFlags, command []string) error {
	ctx, signals := watchSignals(ctx)
	defer signals.stop()
	p, b, err := openTarget(t, f, command)
	if err != nil {
		return err
	}
	defer p.Release()
	defer b.Close()
	say := newNarrator(t)
	say.begin(p, f.output)
	result, err := f.take(ctx, p, signals.suspendable(b), say)
	if err != nil {
		return goesOn(p, err)
	}
	say.end(p, f.output, result)
	if !p.Launched {
		return nil
	}
	if result.End.Cause == sampledata.EndInterrupted && signals.fromTerminal() {
		p.Wait(context.WithoutCancel(ctx))
	}
	return handOn(p)
}

// take writes the recording of a target that a backend is attached to.
func (f *recordFlags) take(ctx context.Context, p *sampler.Process, b sampler.Backend, say *narrator) (sampler.Result, error) {
	h := b.Header()
	h.Sampler = f.options.Settings(version(), f.backend)
	w, err := f.create(h)
	if err != nil {
		return sampler.Result{}, err
	}
	f.options.Progress = say.progress
	defer say.clear()
	return sampler.Record(ctx, p, b, w, f.options)
}

// openTarget finds or launches the target, and attaches to it. What can fail is tried before anything is launched.
func openTarget(t terminal, f *recordFlags, command []string) (*sampler.Process, sampler.Backend, error) {
	if len(command) == 0 {
		return attachTo(f.pid, f.backend, f.settle)
	}
	open := backends[f.backend].open
	path, err := sampler.LookPath(command[0])
	if err != nil {
		return nil, nil, err
	}
	if err := f.settle(path); err != nil {
		return nil, nil, err
	}
	attach, err := open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("launch: %w", err)
	}
	cmd := exec.Command(path, command[1:]...)
	cmd.Args[0] = command[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.in, t.out, t.err
	p, err := sampler.LaunchCommand(cmd)
	if err != nil {
		return nil, nil, err
	}
	b, err := attach(p)
	if err != nil {
		defer p.Release()
		select {
		case <-p.Done():
			fmt.Fprintf(t.err, "cpprof: %s ended before it could be sampled: %s\n", command[0], p.End().Detail)
			return nil, nil, &statusError{int(p.End().ExitStatus)}
		case <-time.After(100 * time.Millisecond):
		}
		return nil, nil, goesOn(p, err)
	}
	return p, b, nil
}

// settle chooses the output's name, and sees that it is free.
func (f *recordFlags) settle(program string) error {
	if f.output == "" {
		name := strings.TrimSuffix(filepath.Base(program), ".exe")
		f.output = name + time.Now().Format("-20060102-150405") + ".cpprof"
	}
	if _, err := os.Lstat(f.output); err == nil && !f.force {
		return fmt.Errorf("%s is already there: give another name with -o, or replace it with --force", f.output)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if parent := filepath.Dir(f.output); parent != "" {
		if info, err := os.Stat(parent); err != nil || !info.IsDir() {
			return fmt.Errorf("there is no folder %s to write the recording into: give another name with -o", parent)
		}
	}
	return f.tryOutput()
}

// tryOutput sees, before a program is launched, that the recording can be written: a writer makes it, and it is
// taken away again.
func (f *recordFlags) tryOutput() error {
	if f.force {
		if _, err := os.Lstat(f.output); err == nil {
			return sampledata.Replaceable(f.output)
		}
	}
	if err := os.Mkdir(f.output, 0o777); err != nil {
		return fmt.Errorf("the recording can't be written: %w: give another name with -o", err)
	}
	return os.Remove(f.output)
}

func (f *recordFlags) create(h sampledata.Header) (*sampledata.Writer, error) {
	if f.force {
		return sampledata.Replace(f.output, h)
	}
	return sampledata.Create(f.output, h)
}

// goesOn adds to an error that the program that was launched is still there.
func goesOn(p *sampler.Process, err error) error {
	if !p.Launched {
		return err
	}
	select {
	case <-p.Done():
		return err
	default:
		return fmt.Errorf("%w (the launched program goes on as process %d)", err, p.PID)
	}
}

// handOn ends cpprof with the status of a launched program that has ended.
func handOn(p *sampler.Process) error {
	select {
	case <-p.Done():
	default:
		return nil
	}
	if status := p.End().ExitStatus; status != 0 {
		return &statusError{int(status)}
	}
	return nil
}
