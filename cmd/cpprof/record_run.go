package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
	"github.com/cpprof/cpprof/views/locks"
)

// record makes one recording, or several if it also records the
// programs that a command starts or becomes.
func record(ctx context.Context, t terminal, f *recordFlags, command []string) error {
	ctx, signals := watchRecording(ctx)
	defer signals.stop()
	go watchReads(5*time.Second, endStuck)
	if f.timed.calls != "" {
		if err := f.checkSingle(command, errTimesFollowed); err != nil {
			return err
		}
	}
	if f.kept.on() {
		ctx, f.kept.full = context.WithCancel(ctx)
		defer f.kept.full()
		defer f.kept.watch(f.kept.ask)()
	}
	target, err := openTarget(t, f, command)
	if err != nil {
		return signals.fail(ctx, t, f, target.Process, err)
	}
	defer target.Release()
	untime, err := f.timeCalls(t, target)
	if err == nil && target.backend != nil {
		err = f.kept.checkFunctions(target.PID)
	}
	if err != nil {
		target.backend.Close()
		return signals.fail(ctx, t, f, target.Process, err)
	}
	r := &recordRun{f: f, say: newNarrator(t), signals: signals, root: target.Process}
	r.say.calls, _, _ = calls.Parse(f.timed.calls)
	if target.executed {
		err = r.programs(ctx, anyExecuted, time.Time{})
	} else if target.backend == nil {
		err = r.programs(ctx, sampler.ProgramFilter{Children: true, Match: f.matcher()},
			time.Time{})
	} else {
		err = r.first(ctx, target.backend)
	}
	if err = errors.Join(err, untime()); err != nil {
		return signals.fail(ctx, t, f, target.Process, err)
	}
	if !target.Launched {
		return nil
	}
	return exitStatus(target.Process)
}

// A target is a process that exists, and the way to record it.
type target struct {
	*sampler.Process
	// nil if only the programs that the process becomes or
	// starts are to be recorded
	backend sampler.Backend
	// the process executes others before it can be attached to;
	// those are to be recorded
	executed bool
}

// anyExecuted selects the programs that a process becomes.
var anyExecuted = sampler.ProgramFilter{Match: func(string) bool { return true }}

// openTarget finds or launches the target, and attaches to it.
// It checks as much as it can before it launches a program. If
// it fails after that, it returns the program with the error.
func openTarget(t terminal, f *recordFlags, command []string) (target, error) {
	switch {
	case f.connect != "":
		return connected(f.connect, f.program, f.outputs.check)
	case len(command) == 0:
		f.options.Lasting = true
		return f.running(t)
	}
	program, err := sampler.LookPath(command[0])
	if err != nil {
		return target{}, err
	}
	if err := f.outputs.check(program); err != nil {
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
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.in, fileOf(t.out), fileOf(t.err)
	p, err := sampler.LaunchCommand(cmd)
	if err != nil || attach == nil {
		return target{Process: p}, err
	}
	b, err := attach(p)
	if err != nil {
		select {
		case <-p.Done():
			tell(t.err, "%s ended before it could be sampled: %s", command[0], p.End().Detail)
			return target{}, &statusError{int(p.End().ExitStatus)}
		case <-time.After(100 * time.Millisecond):
		}
		if f.followExec && errors.Is(err, sampler.ErrExec) {
			return target{Process: p, executed: true}, nil
		}
		return target{Process: p}, err
	}
	return target{Process: p, backend: b}, nil
}

// An attachment is a target that a command records by itself, until close.
type attachment struct {
	target
	signals *signals
	f       *recordFlags
	t       terminal
	untime  func() error // see timeCalls
}

// attach opens the target, times the calls of --calls, and handles
// the signals that arrive until close: the context is done when
// one asks for the end, and the target runs on while cpprof is
// suspended. If attach fails, it ends as a recording that failed
// does.
func (f *recordFlags) attach(ctx context.Context, t, targets terminal,
	command []string) (context.Context, *attachment, error) {
	ctx, signals := watchRecording(ctx)
	opened, err := openTarget(targets, f, command)
	a := &attachment{target: opened, signals: signals, f: f, t: t}
	if err != nil {
		defer signals.stop()
		return ctx, nil, a.fail(ctx, err)
	}
	a.backend = signals.suspendable(a.backend)
	if a.untime, err = f.timeCalls(t, a.target); err != nil {
		defer a.close()
		return ctx, nil, a.fail(ctx, err)
	}
	return ctx, a, nil
}

// fail ends a recording that failed, see signals.fail.
func (a *attachment) fail(ctx context.Context, failure error) error {
	return a.signals.fail(ctx, a.t, a.f, a.Process, failure)
}

func (a *attachment) close() {
	if a.untime != nil {
		_ = a.untime()
	}
	_ = a.backend.Close()
	a.Release()
	a.signals.stop()
}

// running returns the process that -p names, as a target.
func (f *recordFlags) running(t terminal) (target, error) {
	pid, err := f.process.find()
	if err != nil {
		return target{}, err
	}
	if f.child == "" {
		p, b, err := attachTo(t, pid, f.backend, f.outputs.check)
		return target{Process: p, backend: b}, err
	}
	p, err := sampler.Find(pid)
	if err != nil {
		return target{}, err
	}
	if err := f.outputs.check(p.Name); err != nil {
		p.Release()
		return target{}, err
	}
	return target{Process: p}, nil
}

// first records the process itself and then, with --follow-exec, the programs
// that it executes.
func (r *recordRun) first(ctx context.Context, b sampler.Backend) error {
	p := r.root
	file := r.f.outputs.claim(p.Name)
	if r.f.kept.on() {
		r.say.waits(&r.f.kept, p.PID, file)
	} else {
		r.say.begin(p, file)
	}
	began := time.Now()
	b = r.signals.suspendable(b)
	result, err := r.f.record(ctx, p, b, file, r.say)
	b.Close()
	if err != nil {
		return err
	}
	if result.End.Cause == sampledata.EndExec && r.f.followExec {
		return r.executed(ctx, file, result, began)
	}
	if r.f.kept.on() {
		r.say.endKept(becameOf(p, result.End), &r.f.kept)
	} else {
		r.say.end(p, file, result)
	}
	if result.End.Cause == sampledata.EndExec {
		r.say.suggestFollowExec()
	}
	r.awaitInterrupted(ctx)
	return nil
}

// executed records the programs that the first one executes,
// whose own recording ended so. That recording is removed if it
// has no samples.
func (r *recordRun) executed(ctx context.Context, file string, first sampler.Result,
	began time.Time) error {
	if first.Samples > 0 {
		if !r.f.kept.on() {
			r.say.end(r.root, file, first)
		}
		r.made = 1
	} else if err := r.f.outputs.discard(file); err != nil {
		return err
	}
	return r.programs(ctx, anyExecuted, began)
}

// record writes the recording of a process that a backend is
// attached to, and prints the progress.
func (f *recordFlags) record(ctx context.Context, p *sampler.Process, b sampler.Backend,
	file string, say *narrator) (sampler.Result, error) {
	o := f.options
	o.Progress = say.progress
	o.MeetPeer = func(other sampler.Peer) { say.beside(p, other) }
	recording, err := sampler.Prepare(p, b, o)
	if err != nil {
		return sampler.Result{}, err
	}
	defer recording.Close()
	sink, err := f.sink(p, file, f.header(p, b.Header()), say,
		func(d locks.Deadlock) { say.deadlock(p, d) })
	if err != nil {
		return sampler.Result{}, err
	}
	if f.wrap != nil {
		sink = f.wrap(sink)
	}
	defer say.clear()
	return recording.Record(ctx, sink)
}

// sink returns what takes the recording: the file, which reports
// each deadlock as soon as it occurs, or what --keep keeps.
func (f *recordFlags) sink(p *sampler.Process, file string, h sampledata.Header, say *narrator,
	deadlock func(locks.Deadlock)) (sampledata.Sink, error) {
	if f.kept.on() {
		return f.keep(p, file, h, say), nil
	}
	w, err := f.outputs.create(file, h)
	if err != nil {
		return nil, err
	}
	return locks.Watch(w, views.Options{}, deadlock), nil
}

// awaitInterrupted waits until a launched program ends, if it
// got the same Ctrl-C from the terminal as cpprof.
func (r *recordRun) awaitInterrupted(ctx context.Context) {
	if r.root.Launched && r.signals.fromTerminal() {
		r.root.Wait(context.WithoutCancel(ctx))
	}
}

// fail ends a recording that failed. For a launched program,
// cpprof stays and ends with the program's exit status, as if
// the recording had worked: fail prints the failure, and waits
// for the program's end, but not longer than
// --duration or until cpprof is interrupted. If the program's status is 0,
// the result is the status of the failure. Otherwise fail
// returns the failure as it is.
func (s *signals) fail(ctx context.Context, t terminal, f *recordFlags, p *sampler.Process,
	failure error) error {
	if _, ended := errors.AsType[*statusError](failure); ended || p == nil || !p.Launched {
		return failure
	}
	tell(t.err, "%v", failure)
	newNarrator(t).stillRunning(p)
	ctx, stop := within(ctx, f.options.Duration)
	defer stop()
	if _, err := p.Wait(ctx); err != nil && s.fromTerminal() {
		p.Wait(context.WithoutCancel(ctx)) // the program got the same Ctrl-C
	}
	if err := exitStatus(p); err != nil {
		return err
	}
	return &statusError{exitFailed}
}

// within returns a context that ends after a time, unless that is 0.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// stillRunning prints that a launched program continues unrecorded, if it does.
func (n *narrator) stillRunning(p *sampler.Process) {
	if p.Launched && !p.HasEnded() {
		tell(n.out, "the launched program continues as process %d, and is not recorded", p.PID)
	}
}

// exitStatus returns the status of a launched program as
// cpprof's own, or nil if that is 0 or the program still runs.
func exitStatus(p *sampler.Process) error {
	if !p.HasEnded() {
		return nil
	}
	if status := p.End().ExitStatus; status != 0 {
		return &statusError{int(status)}
	}
	return nil
}
