package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/probe"
	"github.com/cpprof/cpprof/why"
)

// whyInterval is how often the evidence is searched while it grows.
const whyInterval = 500 * time.Millisecond

// whyMarkCPU bounds the processor time for marking the heap, in cores.
const whyMarkCPU = 0.25

// mostMarking is how long a sure answer waits for what is stuck for good.
const mostMarking = 5 * time.Second

var errFollows = errors.New("this command is for one Go program, and can't follow others that it starts: give the program itself, or record them ('cpprof record') and search the recordings")

// checkSingle returns the error follows if a command is not a Go
// program itself.
func (f *recordFlags) checkSingle(command []string, follows error) error {
	if len(command) == 0 {
		return nil
	}
	program, err := sampler.LookPath(command[0])
	if err != nil {
		return err
	}
	if f.follows(program, command[1:]) {
		return follows
	}
	return nil
}

// live samples a running program until the answer is sure, or
// until the time is over. It keeps the recording, which the
// commands in the answer need.
func (f *whyFlags) live(ctx context.Context, t terminal, command []string) error {
	s, err := f.prepared()
	if err != nil {
		return err
	}
	if err := f.record.checkSingle(command, errFollows); err != nil {
		return err
	}
	own := t
	own.out = t.err // so that the answer is all that is on standard output
	f.record.timed = timedFlags{calls: f.calls, removal: usualRemoval,
		overhead: shareFlag{value: new(big.Rat).SetFloat64(probedShare)}}
	ctx, target, err := f.record.attach(ctx, t, own, command)
	if err != nil {
		return err
	}
	defer target.close()
	sink := &probedSink{}
	if f.record.wrap == nil {
		f.record.wrap = func(s sampledata.Sink) sampledata.Sink { sink.Sink = s; return sink }
	}
	g, err := f.record.startRecording(ctx, target.target)
	if err != nil {
		return target.fail(ctx, err)
	}
	sure := f.wait(ctx, t, g, s)
	var left, status error
	var set *probe.Set
	if f.probes {
		set = f.probe(ctx, t, target.target, g, s, sink)
	}
	result, err := g.end()
	if set != nil {
		left = set.Close()
	}
	if target.Launched && ctx.Err() == nil {
		endLaunched(ctx, t, target.Process)
	}
	if err != nil {
		return errors.Join(target.fail(ctx, err), left)
	}
	say := newNarrator(t)
	g.tell(say, target.Process)
	s.path, s.recording = g.file, g.live.Recording()
	switch result.End.Cause {
	case sampledata.EndInterrupted:
	case sampledata.EndDuration:
		sure = fmt.Sprintf("it is not sure after %v, but the time is over",
			f.record.options.Duration.Round(100*time.Millisecond))
	default:
		sure = fmt.Sprintf("%s ended (%s)", filepath.Base(target.Process.Name),
			becameOf(target.Process, result.End))
		status = exitStatus(target.Process)
	}
	tell(t.err, "%s; the recording is in %s", sure, g.file)
	if err := errors.Join(f.conclude(t, s), left); err != nil {
		return err
	}
	return status
}

// conclude shows the answer of a recording that has ended.
func (f *whyFlags) conclude(t terminal, s *source) error {
	if err := f.pick(s); err != nil {
		return err
	}
	a, err := f.answer(s)
	if err != nil {
		return err
	}
	return f.show(t, s, a)
}

// wait searches the growing recording until the answer is sure,
// the recording ends, or a person interrupts it. It returns a
// text that says why it ended.
func (f *whyFlags) wait(ctx context.Context, t terminal, g *growing, s *source) string {
	line := newStatusLine(t.err, t.errIsTerminal, 0)
	defer line.clear()
	var settled why.StopRule
	var sure time.Time
	interval := whyInterval
	var limit <-chan time.Time
	if f.probes { // a third of the time is for them
		limit = time.After(f.record.options.Duration * 2 / 3)
	}
	for {
		select {
		case <-ctx.Done():
			return "interrupted"
		case <-g.ended:
			return "the recording ended"
		case <-limit:
			return "not sure"
		case <-time.After(interval):
		}
		began := time.Now()
		r, _, err := f.pickSoFar(s, g.live.Recording())
		if err != nil {
			return "not searched"
		}
		if r == nil {
			continue
		}
		a, err := why.Find(r, f.searchOptions(s))
		if err != nil {
			continue // the final search reports it
		}
		line.showSoFar(a)
		if !settled.Add(a) {
			sure = time.Time{}
		} else if sure.IsZero() {
			sure = began
		}
		if f.calls == "" && !sure.IsZero() && (f.isMarked(r) || began.Sub(sure) > mostMarking) {
			if a.State == why.Waiting || a.State == why.Unmoved {
				return fmt.Sprintf("nothing changes after %.1f s", a.To.Seconds())
			}
			return fmt.Sprintf("sure after %.1f s", a.To.Seconds())
		}
		// the search takes a tenth of the time at most
		interval = max(whyInterval, 10*time.Since(began))
	}
}

// isMarked reports whether a recording says what is stuck for
// good, or won't.
func (f *whyFlags) isMarked(r *sampledata.Recording) bool {
	return f.record.options.Mark == nil ||
		r.Marking != nil || slices.ContainsFunc(r.Warnings, func(w sampledata.Warning) bool {
		return w.Kind == sampledata.UnmarkedHeap
	})
}

// showSoFar shows the first finding so far.
func (l *statusLine) showSoFar(a *why.Answer) {
	text := string(a.State)
	if len(a.Findings) > 0 {
		text = report.Sentence(a.Findings[0])
	}
	l.show("%.1f s  %s  %s", a.To.Seconds(), report.Counted(a.Samples, "sample"),
		termtext.Cut(termtext.Printable(text), 90))
}
