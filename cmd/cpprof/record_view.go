package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/tui"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// recordView makes one recording, and meanwhile shows it in the
// Analyzer. When a person leaves the Analyzer, the recording
// ends. A launched program ends, too, as with Ctrl-C if --view
// is not given.
func recordView(ctx context.Context, t terminal, f *recordFlags, command []string) error {
	if !t.isScreen() {
		return usagef("--view needs a terminal: leave it out, and read the recording with 'cpprof report'")
	}
	aside, log, err := f.redirectTarget(t, command)
	if err != nil {
		return err
	}
	defer log.close(t)
	ctx, target, err := f.attach(ctx, t, aside, command)
	if err != nil {
		return err
	}
	defer target.close()
	g, err := f.startRecording(ctx, target.target)
	if err != nil {
		return target.fail(ctx, err)
	}
	log.moveInto(g.file)
	showErr := g.show(ctx, t, f.shown.samples, log)
	result, err := g.end()
	if errors.Is(showErr, errSignalled) {
		showErr = nil
	}
	if errors.Is(showErr, tui.ErrStuck) {
		t.err = io.Discard
	}
	if target.Launched && showErr == nil && ctx.Err() == nil {
		endLaunched(ctx, t, target.Process)
	}
	if err = errors.Join(err, showErr); err != nil {
		return target.fail(ctx, err)
	}
	say := newNarrator(t)
	g.tell(say, target.Process)
	say.end(target.Process, g.file, result)
	if !target.Launched {
		return nil
	}
	return exitStatus(target.Process)
}

// A growing recording is written to its files, and kept in
// memory for the Analyzer.
type growing struct {
	file  string
	live  *sampledata.Builder
	stop  func()
	ended chan struct{}

	mu        sync.Mutex
	deadlocks []locks.Deadlock
	peers     []sampler.Peer // other processes that sampled the program

	// The outcome; valid after ended is closed.
	result sampler.Result
	err    error
	became string
}

// startRecording records in a goroutine of its own.
func (f *recordFlags) startRecording(ctx context.Context, target target) (*growing, error) {
	file := f.outputs.claim(target.Name)
	h := f.header(target.Process, target.backend.Header())
	g := &growing{file: file, live: sampledata.NewBuilder(h), ended: make(chan struct{})}
	o := f.options
	if o.MeetPeer == nil {
		o.MeetPeer = g.addPeer
	}
	recording, err := sampler.Prepare(target.Process, target.backend, o)
	if err != nil {
		return nil, err
	}
	w, err := f.outputs.create(file, h)
	if err != nil {
		recording.Close()
		return nil, err
	}
	w.Also(g.live)
	ctx, g.stop = context.WithCancel(ctx)
	go func() {
		defer close(g.ended)
		sink := locks.Watch(w, views.Options{}, g.addDeadlock)
		if f.wrap != nil {
			sink = f.wrap(sink)
		}
		g.result, g.err = recording.Record(ctx, sink)
		g.became = outcome(target.Process, g.result, g.err)
	}()
	return g, nil
}

// addDeadlock stores a deadlock.
func (g *growing) addDeadlock(d locks.Deadlock) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.deadlocks = append(g.deadlocks, d)
}

// deadlocksSoFar returns the deadlocks that were found so far.
func (g *growing) deadlocksSoFar() []locks.Deadlock {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.deadlocks
}

func (g *growing) addPeer(p sampler.Peer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.peers = append(g.peers, p)
}

// tell prints what happened during the recording.
func (g *growing) tell(say *narrator, p *sampler.Process) {
	for _, d := range g.deadlocksSoFar() {
		say.deadlock(p, d)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, other := range g.peers {
		say.beside(p, other)
	}
}

// outcome returns a text that says, to a person in the Analyzer,
// why the recording has ended.
func outcome(p *sampler.Process, r sampler.Result, err error) string {
	if err != nil {
		return err.Error()
	}
	text := becameOf(p, r.End)
	if p.Launched && !p.HasEnded() {
		text += " until q interrupts it"
	}
	if r.End.Cause == sampledata.EndDuration {
		text = "the time is over; " + text
	}
	return text
}

// end ends the recording, if it hasn't ended yet, and waits
// until it is written.
func (g *growing) end() (sampler.Result, error) {
	g.stop()
	<-g.ended
	return g.result, g.err
}

// show opens the Analyzer on the recording. Only the chosen samples count.
func (g *growing) show(ctx context.Context, t terminal, counted string, log *targetLog) error {
	f := reportFlags{viewFlags: viewFlags{inputFlags: inputFlags{err: t.err}}}
	s, err := g.source(&f.viewFlags)
	if err != nil {
		return err
	}
	live := &tui.Live{Recording: g.live.Recording, Ended: g.ended,
		Outcome: func() string { return g.became }, Deadlocks: g.deadlocksSoFar}
	if log != nil {
		live.Note = "the program's output: " + log.path
	}
	return f.analyze(ctx, t, s, tui.Options{Live: live, Samples: counted})
}

// source returns the recording so far, with the configuration
// and the options of flags.
func (g *growing) source(f *viewFlags) (*source, error) {
	s, err := f.prepared()
	if err != nil {
		return nil, err
	}
	s.path, s.recording = g.file, g.live.Recording()
	return s, nil
}

// endLaunched interrupts a launched program, as Ctrl-C would do without the
// Analyzer, and waits for its end.
func endLaunched(ctx context.Context, t terminal, p *sampler.Process) {
	if p.HasEnded() {
		return
	}
	process, err := os.FindProcess(p.PID)
	if err != nil || process.Signal(os.Interrupt) != nil {
		return
	}
	tell(t.err, "%s (process %d), which cpprof started, is interrupted now",
		filepath.Base(p.Name), p.PID)
	const usual = time.Second
	patient, stop := context.WithTimeout(ctx, usual)
	defer stop()
	if _, err := p.Wait(patient); err != nil && ctx.Err() == nil {
		tell(t.err, "waiting for its end; Ctrl-C ends the wait")
		_, _ = p.Wait(ctx)
	}
}
