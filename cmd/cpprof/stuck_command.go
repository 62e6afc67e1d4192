package main

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/live"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// command runs a command, and examines the Go programs that it
// runs until they end.
func (f *stuckFlags) command(ctx context.Context, t terminal, command []string) error {
	if f.input.program != "" {
		return usagef("--program is for a core dump")
	}
	program, err := sampler.LookPath(command[0])
	if err != nil {
		return err
	}
	ctx, signals := watchSignals(ctx)
	defer signals.stop()
	cmd := exec.Command(program, command[1:]...)
	cmd.Args[0] = command[0]
	// the answer is all that is on standard output
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.in, fileOf(t.err), fileOf(t.err)
	root, err := sampler.LaunchCommand(cmd)
	if err != nil {
		return err
	}
	defer root.Release()
	programs, err := sampler.FollowPrograms(ctx, root, sampler.ProgramFilter{Children: true})
	if err != nil {
		return err
	}
	var list []*watchedProgram
	var all sync.WaitGroup
	for p := range programs {
		w := &watchedProgram{p: p}
		list = append(list, w)
		all.Go(func() {
			attach := func() (sampler.Backend, error) { return w.attach(ctx, signals) }
			w.last, w.err = live.Watch(ctx, p, attach, f.limits())
			if p != root {
				p.Release()
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		endLaunched(context.Background(), t, root)
	}
	end, err := root.Wait(context.Background())
	if err != nil {
		return err
	}
	if err := f.showWatched(t, list); err != nil {
		return err
	}
	if end.ExitStatus != 0 {
		return &statusError{int(end.ExitStatus)}
	}
	return nil
}

// showWatched prints what was stuck in programs in the end.
func (f *stuckFlags) showWatched(t terminal, list []*watchedProgram) error {
	var answers []*report.Stuck
	examined := 0
	for _, w := range list {
		if w.last == nil {
			tell(t.err, "%s (process %d) was not examined: %v",
				filepath.Base(w.p.Name), w.p.PID, w.failure())
			continue
		}
		a := report.StuckOf(w.last, filepath.Base(w.p.Name))
		if examined++; len(a.Findings) > 0 || f.input.json {
			answers = append(answers, a)
		}
	}
	if len(answers) == 0 {
		termtext.Fprintf(t.out, "%s examined: no goroutine was found to be stuck for good\n",
			report.Counted(examined, "Go program"))
	}
	return f.show(t, answers)
}

// A watchedProgram is a program that is examined until it ends.
type watchedProgram struct {
	p    *sampler.Process
	last *sampledata.Recording // of the last examination; nil if there is none
	err  error                 // of the last one
}

// failure returns why a program has no answer.
func (w *watchedProgram) failure() error {
	if _, ended := errors.AsType[*sampler.EndedError](w.err); ended || w.err == nil {
		return errors.New("it ended too early")
	}
	return w.err
}

// attach attaches to a program that may be about to execute another one.
func (w *watchedProgram) attach(ctx context.Context, s *signals) (sampler.Backend, error) {
	open, err := backends[defaultBackend].open(w.p.Executable)
	if err != nil {
		return nil, err
	}
	for tries := 0; ; tries++ {
		b, err := s.attach(open, w.p)
		if err == nil || tries == maxExecs || ctx.Err() != nil || w.p.HasEnded() {
			return b, err
		}
		time.Sleep(time.Millisecond)
	}
}
