package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/why/stuck"
)

// restShare is how long a program is left alone after an examination: so often as long as that took.
const restShare = 10

// command runs a command, and examines the Go programs that it runs until they end.
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
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.in, fileOf(t.err), fileOf(t.err) // the answer is all that is on standard output
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
		w := &watchedProgram{p: p, f: f, t: t}
		list = append(list, w)
		all.Go(func() {
			w.watch(ctx)
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
			termtext.Fprintf(t.err, "cpprof: %s (process %d) was not examined: %v\n", filepath.Base(w.p.Name), w.p.PID, w.failure())
			continue
		}
		if examined++; w.last.Stuck+w.last.Others > 0 || f.json {
			answers = append(answers, &report.Stuck{
				Answer: w.last, Program: filepath.Base(w.p.Name), PID: int64(w.p.PID), Basis: report.Basis{Complete: true},
			})
		}
	}
	if len(answers) == 0 {
		termtext.Fprintf(t.out, "%s examined: no goroutine is stuck for good\n", report.Counted(examined, "Go program"))
	}
	return f.show(t, answers)
}

// A watchedProgram is a program that is examined until it ends.
type watchedProgram struct {
	p    *sampler.Process
	f    *stuckFlags
	t    terminal
	last *stuck.Answer // that of the last examination
	err  error         // of the last one
}

// failure returns why a program has no answer.
func (w *watchedProgram) failure() error {
	if w.err != nil {
		return w.err
	}
	return fmt.Errorf("it ended too early")
}

// watch examines a program again and again. What is stuck stays stuck, so the last answer counts.
func (w *watchedProgram) watch(ctx context.Context) {
	b, err := w.attach(ctx)
	if err != nil {
		w.err = err
		return
	}
	defer b.Close()
	for ctx.Err() == nil && !w.p.HasEnded() {
		begin := time.Now()
		a, err := examined(ctx, b, w.f.limits())
		if err == nil {
			w.last = a
		}
		w.err = err
		select {
		case <-ctx.Done():
			return
		case <-w.p.Done():
			return
		case <-time.After(max(lookEvery, restShare*time.Since(begin)-lookAgain)):
		}
	}
}

// attach attaches to a program that may be about to execute another one.
func (w *watchedProgram) attach(ctx context.Context) (b sampler.Backend, err error) {
	open, err := backends[defaultBackend].open(w.p.Executable)
	if err != nil {
		return nil, err
	}
	for range mostExecs {
		if b, err = open(w.p); err == nil || ctx.Err() != nil || w.p.HasEnded() {
			return b, err
		}
		time.Sleep(time.Millisecond)
	}
	return b, err
}
