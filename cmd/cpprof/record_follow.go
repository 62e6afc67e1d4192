package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/views"
)

// matcher chooses programs by --child.
func (f *recordFlags) matcher() func(string) bool {
	if f.child == "" {
		return nil
	}
	return func(name string) bool {
		ok, _ := path.Match(f.child, name)
		return ok
	}
}

// A recordRun is one call of record, and says how it goes.
type recordRun struct {
	f       *recordFlags
	signals *signals
	root    *sampler.Process

	mu      sync.Mutex
	say     *narrator
	newest  int    // process, whose progress is shown
	made    int    // recordings
	largest string // of them
	samples int64  // in that
}

// programs records the programs that the root becomes and starts, each into a recording of its own; began is when an
// earlier recording did.
func (r *recordRun) programs(ctx context.Context, o sampler.FollowOptions, began time.Time) error {
	r.tell("waiting for the program to record; Ctrl-C ends that")
	programs, err := sampler.RecordPrograms(ctx, r.root, sampler.ProgramsOptions{
		Follow: o, FollowExec: r.f.followExec, Options: r.f.options, Began: began, Attach: r.attach,
		Found: func(p *sampler.Process) sampler.ProgramRecording {
			return &programRecording{r: r, p: p, file: r.f.outputs.claim(p.Name)}
		},
	})
	if err != nil {
		return err
	}
	r.await(ctx)
	return r.conclude(ctx, programs)
}

func (r *recordRun) attach(p *sampler.Process) (sampler.Backend, error) {
	attach, err := backends[r.f.backend].open(p.Executable)
	if err != nil {
		return nil, err
	}
	b, err := attach(p)
	if err != nil {
		return nil, err
	}
	return r.signals.suspendable(b), nil
}

// A programRecording is one of those that recordRun.programs makes.
type programRecording struct {
	r    *recordRun
	p    *sampler.Process
	file string
}

// Open creates the file, and makes this recording the one whose progress is shown.
func (g *programRecording) Open(h sampledata.Header) (sampledata.Sink, error) {
	g.r.tell("following to %s (process %d), into %s; Ctrl-C ends the recording", g.p.Name, g.p.PID, g.file)
	g.r.mu.Lock()
	g.r.newest = g.p.PID
	g.r.mu.Unlock()
	return g.r.f.create(g.file, h, func(d locks.Deadlock) {
		g.r.mu.Lock()
		defer g.r.mu.Unlock()
		g.r.say.deadlock(g.p, d)
	})
}

// Progress shows how the newest of the recordings goes.
func (g *programRecording) Progress(progress sampler.Progress) {
	g.r.mu.Lock()
	defer g.r.mu.Unlock()
	if g.p.PID == g.r.newest {
		g.r.say.progress(progress)
	}
}

// Ended says what became of the recording; one without samples is removed.
func (g *programRecording) Ended(result sampler.Result) error {
	r := g.r
	r.mu.Lock()
	defer r.mu.Unlock()
	r.say.clear()
	if result.Samples == 0 {
		return r.f.outputs.discard(g.file)
	}
	became := becameOf(g.p, result.End)
	if result.End.Cause == sampledata.EndInterrupted && r.root.Launched && r.signals.fromTerminal() {
		became = "interrupted" // as the program is, too, which may take a moment to end
	}
	fmt.Fprintf(r.say.out, "cpprof: recorded %s (process %d) into %s: %s in %s: %s\n", filepath.Base(g.p.Name), g.p.PID, g.file,
		achieved(result.Progress), result.Elapsed.Round(time.Millisecond), became)
	r.made++
	if result.Samples > r.samples {
		r.largest, r.samples = g.file, result.Samples
	}
	if result.End.Cause == sampledata.EndExec && !r.f.followExec {
		r.say.execs()
	}
	return nil
}

// Failed says why there is less than a whole recording.
func (g *programRecording) Failed(err error) {
	g.r.tell("not recorded: %v", sampler.AttachError(g.p.PID, err))
}

// Dropped frees the file's name, and says what went wrong.
func (g *programRecording) Dropped(err error) {
	g.r.f.outputs.release(g.file)
	if err != nil {
		g.Failed(err)
	}
}

// execs says how to go on with a program that was executed in place of a recorded one.
func (n *narrator) execs() {
	fmt.Fprintln(n.out, "cpprof: add --follow-exec to go on with the program that it executed")
}

// tell says something to a person who watches.
func (r *recordRun) tell(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.say.live {
		r.say.clear()
		fmt.Fprintf(r.say.out, "cpprof: "+format+"\n", args...)
	}
}

// conclude says what to do next, or why there is no recording.
func (r *recordRun) conclude(ctx context.Context, programs sampler.Programs) error {
	if r.made > 0 {
		if programs.Err != nil {
			fmt.Fprintf(r.say.out, "cpprof: not recorded: %v\n", programs.Err)
		}
		if len(programs.Brief) > 0 {
			fmt.Fprintf(r.say.out, "cpprof: ended before a first sample: %s\n", listed(programs.Brief))
		}
		if r.largest != "" {
			fmt.Fprintf(r.say.out, "cpprof: next: cpprof report %s\n", words.Shell(r.largest))
		}
		return nil
	}
	fmt.Fprintf(r.say.out, "cpprof: %v\n", r.nothing(ctx, programs))
	r.say.goesOn(r.root)
	if status := handOn(r.root); status != nil {
		return status
	}
	return &statusError{exitFailed}
}

// nothing says why nothing was recorded, and what to do about it.
func (r *recordRun) nothing(ctx context.Context, programs sampler.Programs) error {
	switch {
	case programs.Err != nil:
		return programs.Err
	case len(programs.Brief) > 0:
		return fmt.Errorf("nothing was recorded: %s ended before a first sample", listed(programs.Brief))
	case ctx.Err() != nil:
		return errors.New("nothing was recorded: interrupted before a Go program was there to be recorded")
	case r.f.child != "" && len(programs.Seen) > 0:
		return fmt.Errorf("nothing was recorded: no program matched --child %s: these ran: %s", r.f.child, listed(programs.Seen))
	case slices.Contains(programs.Seen, "go"):
		return errors.New("nothing was recorded: the go command ran no program, or one for a few milliseconds only: " +
			"a cached test result runs nothing (add -count=1); to record the go command itself, add --child go")
	}
	return fmt.Errorf("nothing was recorded: %s started no Go program that lived for more than a few milliseconds: "+
		"check the command, or attach with -p PID to what it leaves running", filepath.Base(r.root.Name))
}

// listed joins some names, each once.
func listed(list []string) string {
	const most = 8
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	if len(list) > most {
		list = append(list[:most:most], fmt.Sprintf("and %d more", len(list)-most))
	}
	return strings.Join(list, ", ")
}

// create makes the file of a recording, and returns the sink that fills it and reports deadlocks as soon as they stand.
func (f *recordFlags) create(file string, h sampledata.Header, deadlock func(locks.Deadlock)) (sampledata.Sink, error) {
	h.Sampler = f.options.Settings(version(), f.backend)
	w, err := f.outputs.create(file, h)
	if err != nil {
		return nil, err
	}
	return locks.Watch(w, views.Options{}, deadlock), nil
}
