package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// record makes one recording, or several where programs are followed.
func record(ctx context.Context, t terminal, f *recordFlags, command []string) error {
	ctx, signals := watchSignals(ctx)
	defer signals.stop()
	target, err := openTarget(t, f, command)
	if err != nil {
		return signals.stay(ctx, t, f, target.Process, err)
	}
	defer target.Release()
	r := &recordRun{f: f, say: newNarrator(t), signals: signals, root: target.Process}
	if target.backend == nil {
		err = r.programs(ctx, sampler.FollowOptions{Children: true, Match: f.matcher()}, time.Time{})
	} else {
		err = r.first(ctx, target.backend)
	}
	if err != nil {
		return signals.stay(ctx, t, f, target.Process, err)
	}
	if !target.Launched {
		return nil
	}
	return handOn(target.Process)
}

// A target is a process that is there.
type target struct {
	*sampler.Process
	backend sampler.Backend // nil where not the process itself is to be recorded, but what it becomes or starts
}

// openTarget finds or launches the target, and attaches to it. What can fail is tried before anything is launched; a program
// that was launched all the same is returned with the error.
func openTarget(t terminal, f *recordFlags, command []string) (target, error) {
	if len(command) == 0 {
		return f.running(t)
	}
	program, err := sampler.LookPath(command[0])
	if err != nil {
		return target{}, err
	}
	if err := f.outputs.settle(program); err != nil {
		return target{}, err
	}
	var attach attacher
	if !f.follows(program, command[1:]) {
		if attach, err = backends[f.backend].open(program); err != nil {
			return target{}, fmt.Errorf("launch: %w", err)
		}
	}
	cmd := exec.Command(program, command[1:]...)
	cmd.Args[0] = command[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.in, t.out, t.err
	p, err := sampler.LaunchCommand(cmd)
	if err != nil || attach == nil {
		return target{Process: p}, err
	}
	b, err := attach(p)
	if err != nil {
		select {
		case <-p.Done():
			fmt.Fprintf(t.err, "cpprof: %s ended before it could be sampled: %s\n", command[0], p.End().Detail)
			return target{}, &statusError{int(p.End().ExitStatus)}
		case <-time.After(100 * time.Millisecond):
		}
		return target{Process: p}, err
	}
	return target{p, b}, nil
}

// running is the process that -p names.
func (f *recordFlags) running(t terminal) (target, error) {
	if f.child == "" {
		p, b, err := attachTo(t, f.pid, f.backend, f.outputs.settle)
		return target{p, b}, err
	}
	p, err := sampler.Find(f.pid)
	if err != nil {
		return target{}, err
	}
	if err := f.outputs.settle(p.Name); err != nil {
		p.Release()
		return target{}, err
	}
	return target{Process: p}, nil
}

// first records the process itself, and then, if that is asked for, the programs that it executes.
func (r *recordRun) first(ctx context.Context, b sampler.Backend) error {
	p := r.root
	file := r.f.outputs.claim(p.Name)
	r.say.begin(p, file)
	began := time.Now()
	b = r.signals.suspendable(b)
	result, err := r.f.record(ctx, p, b, file, r.say)
	b.Close()
	if err != nil {
		return err
	}
	r.say.end(p, file, result)
	switch {
	case result.End.Cause == sampledata.EndExec && !r.f.followExec:
		r.say.execs()
	case result.End.Cause == sampledata.EndExec:
		r.made = 1
		return r.programs(ctx, sampler.FollowOptions{Match: func(string) bool { return true }}, began)
	}
	r.await(ctx)
	return nil
}

// record writes the recording of a process that a backend is attached to, and says how it goes.
func (f *recordFlags) record(ctx context.Context, p *sampler.Process, b sampler.Backend, file string, say *narrator) (sampler.Result, error) {
	sink, err := f.create(file, b.Header(), func(d locks.Deadlock) { say.deadlock(p, d) })
	if err != nil {
		return sampler.Result{}, err
	}
	o := f.options
	o.Progress = say.progress
	defer say.clear()
	return sampler.Record(ctx, p, b, sink, o)
}

// await waits for a launched program to end that has got the same Ctrl-C at the terminal.
func (r *recordRun) await(ctx context.Context) {
	if r.root.Launched && r.signals.fromTerminal() {
		r.root.Wait(context.WithoutCancel(ctx))
	}
}

// stay says why there is no recording, or not all of one. If the program was launched, cpprof stands for it, whatever becomes
// of the recording: stay waits for its end, as long as the recording was to last and unless cpprof itself is to end, and
// hands on its status. If that is 0, the status is that of the failure.
func (s *signals) stay(ctx context.Context, t terminal, f *recordFlags, p *sampler.Process, failure error) error {
	var status *statusError
	if p == nil || !p.Launched || errors.As(failure, &status) {
		return failure
	}
	fmt.Fprintf(t.err, "cpprof: %v\n", failure)
	newNarrator(t).goesOn(p)
	if limit := f.options.Duration; limit > 0 {
		limited, stop := context.WithTimeout(ctx, limit)
		defer stop()
		ctx = limited
	}
	if _, err := p.Wait(ctx); err != nil && s.fromTerminal() {
		p.Wait(context.WithoutCancel(ctx)) // it has got the same Ctrl-C
	}
	if err := handOn(p); err != nil {
		return err
	}
	return &statusError{exitFailed}
}

// goesOn says that a launched program runs without being recorded, if it does.
func (n *narrator) goesOn(p *sampler.Process) {
	if p.Launched && !p.HasEnded() {
		fmt.Fprintf(n.out, "cpprof: the launched program goes on as process %d, and is not recorded\n", p.PID)
	}
}

// handOn ends cpprof with the status of a launched program that has ended.
func handOn(p *sampler.Process) error {
	if !p.HasEnded() {
		return nil
	}
	if status := p.End().ExitStatus; status != 0 {
		return &statusError{int(status)}
	}
	return nil
}
