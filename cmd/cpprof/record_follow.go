package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/views/locks"
)

// matcher returns a function that reports whether --child selects a program,
// or nil if --child is not given.
func (f *recordFlags) matcher() func(string) bool {
	if f.child == "" {
		return nil
	}
	return func(name string) bool {
		ok, _ := path.Match(f.child, name)
		return ok
	}
}

// A recordRun is one run of the command record. It prints the progress.
type recordRun struct {
	f       *recordFlags
	signals *signals
	root    *sampler.Process

	mu      sync.Mutex
	say     *narrator
	newest  int    // the process whose progress is shown
	made    int    // number of recordings
	largest string // the recording with most samples
	samples int64  // number of samples in it
}

// programs records the programs that the root becomes and
// starts, each into its own recording. If there is an earlier
// recording, began is the time at which it began.
func (r *recordRun) programs(ctx context.Context, o sampler.ProgramFilter, began time.Time) error {
	r.say.several = true
	r.announce("waiting for a program to record; Ctrl-C ends the wait")
	programs, err := sampler.RecordPrograms(ctx, r.root, sampler.ProgramsOptions{
		Filter: o, FollowExec: r.f.followExec, Options: r.f.options, Began: began, Attach: r.attach,
		Found: func(p *sampler.Process) sampler.ProgramRecording {
			g := &programRecording{r: r, p: p}
			if !r.f.kept.on() {
				g.file = r.f.outputs.claim(p.Name)
			}
			return g
		},
	})
	if err != nil {
		return err
	}
	r.awaitInterrupted(ctx)
	return r.conclude(ctx, programs)
}

func (r *recordRun) attach(p *sampler.Process) (sampler.Backend, error) {
	attach, err := backends[r.f.backend].open(p.Executable)
	if err != nil {
		return nil, err
	}
	return r.signals.attach(attach, p)
}

// A programRecording is one of the recordings that recordRun.programs makes.
type programRecording struct {
	r    *recordRun
	p    *sampler.Process
	file string // "" with --keep
}

// Open creates the file, and makes this recording the one whose
// progress is shown.
func (g *programRecording) Open(h sampledata.Header) (sampledata.Sink, error) {
	r := g.r
	if r.f.kept.on() {
		r.announce("keeping the last %v of %s", r.f.kept.span, g.who())
		if err := r.f.kept.checkFunctions(g.p.PID); err != nil {
			r.print("%s: %v", g.who(), err) // others may have them
		}
	} else {
		r.announce("recording %s into %s; Ctrl-C ends the recording", g.who(), g.file)
	}
	r.mu.Lock()
	r.newest = g.p.PID
	r.mu.Unlock()
	return r.f.sink(g.p, g.file, r.f.header(g.p, h), r.say, func(d locks.Deadlock) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.say.deadlock(g.p, d)
	})
}

// who names the program.
func (g *programRecording) who() string { return processText(g.p) }

func processText(p *sampler.Process) string {
	return fmt.Sprintf("%s (process %d)", filepath.Base(p.Name), p.PID)
}

// Progress shows the progress if this recording is the newest.
func (g *programRecording) Progress(progress sampler.Progress) {
	g.r.mu.Lock()
	defer g.r.mu.Unlock()
	if g.p.PID == g.r.newest {
		g.r.say.progress(progress)
	}
}

// MeetPeer prints that another process samples the program, too.
func (g *programRecording) MeetPeer(other sampler.Peer) {
	g.r.mu.Lock()
	defer g.r.mu.Unlock()
	g.r.say.beside(g.p, other)
}

// Ended prints a summary of the recording, or removes the
// recording if it has no samples.
func (g *programRecording) Ended(result sampler.Result) error {
	r := g.r
	r.mu.Lock()
	defer r.mu.Unlock()
	r.say.clear()
	switch {
	case result.Samples == 0:
		return r.f.outputs.discard(g.file)
	case r.f.kept.on():
		return nil // what was kept is said already
	}
	became := becameOf(g.p, result.End)
	if result.End.Cause == sampledata.EndInterrupted && r.root.Launched &&
		r.signals.fromTerminal() {
		became = "interrupted" // the program got the same Ctrl-C, and may take a moment to end
	}
	tell(r.say.out, "recorded %s into %s: %s in %s: %s", g.who(), g.file,
		achieved(result.Progress), result.Elapsed.Round(time.Millisecond), became)
	r.made++
	if result.Samples > r.samples {
		r.largest, r.samples = g.file, result.Samples
	}
	if result.End.Cause == sampledata.EndExec && !r.f.followExec {
		r.say.suggestFollowExec()
	}
	return nil
}

// Failed prints why the recording is missing or incomplete.
func (g *programRecording) Failed(err error) {
	g.r.announce("not recorded: %v", sampler.AttachError(g.p.PID, err))
}

// Dropped frees the file's name, and prints the error if there is one.
func (g *programRecording) Dropped(err error) {
	g.r.f.outputs.release(g.file)
	if err != nil {
		g.Failed(err)
	}
}

// suggestFollowExec prints how to record a program that has replaced a
// recorded one (exec).
func (n *narrator) suggestFollowExec() {
	tell(n.out, "add --follow-exec to record the program that it executed, too")
}

// announce prints a message, but only on a terminal.
func (r *recordRun) announce(format string, args ...any) {
	if r.say.live {
		r.print(format, args...)
	}
}

func (r *recordRun) print(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.say.clear()
	termtext.Fprintf(r.say.out, "cpprof: "+format+"\n", args...)
}

// conclude prints what to do next, or why there is no recording.
func (r *recordRun) conclude(ctx context.Context, programs sampler.Programs) error {
	if r.f.kept.on() && r.f.kept.quota.Written() > 0 {
		r.say.endKept("the recording is over", &r.f.kept)
		return nil
	}
	if r.made > 0 {
		if programs.Err != nil {
			tell(r.say.out, "not recorded: %v", programs.Err)
		}
		if len(programs.Brief) > 0 {
			tell(r.say.out, "ended before the first sample: %s", listed(programs.Brief))
		}
		if r.largest != "" {
			tell(r.say.out, "next: cpprof why %s", words.Shell(r.largest))
		}
		return nil
	}
	tell(r.say.out, "%v", r.nothingRecorded(ctx, programs))
	r.say.stillRunning(r.root)
	if status := exitStatus(r.root); status != nil {
		return status
	}
	return &statusError{exitFailed}
}

// nothingRecorded returns an error that says why nothing was recorded, and
// what to do about it.
func (r *recordRun) nothingRecorded(ctx context.Context, programs sampler.Programs) error {
	switch {
	case programs.Err != nil:
		return programs.Err
	case r.f.kept.on() && len(programs.Seen) > len(programs.Brief):
		return errors.New("nothing was kept")
	case len(programs.Brief) > 0:
		return fmt.Errorf("nothing was recorded: %s ended before the first sample",
			listed(programs.Brief))
	case ctx.Err() != nil:
		return errors.New("nothing was recorded: interrupted before a Go program started")
	case r.f.child != "" && len(programs.Seen) > 0:
		return fmt.Errorf("nothing was recorded: no program matched --child %s; these ran: %s",
			r.f.child, listed(programs.Seen))
	case slices.Contains(programs.Seen, "go"):
		return errors.New("nothing was recorded: the go command ran no program, or only one that lived for a few milliseconds: " +
			"a cached test result runs nothing (add -count=1); to record the go command itself, add --child go")
	}
	return fmt.Errorf("nothing was recorded: %s started no Go program that lived long enough to be recorded: "+
		"check the command, or use -p PID to attach to a program that it leaves running",
		filepath.Base(r.root.Name))
}

// listed returns the sorted names as a list, each once, and
// shortens a long list.
func listed(list []string) string {
	const most = 8
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	return words.List(list, most)
}

// header completes what a backend says of a process.
func (f *recordFlags) header(p *sampler.Process, h sampledata.Header) sampledata.Header {
	f.options.Describe(&h, version(), f.backend)
	if f.full {
		h.Command = p.FullCommand()
	}
	return h
}
