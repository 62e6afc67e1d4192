package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// mostAttempts is how often a process is tried that can't be attached to: it may be executing another program just then.
const mostAttempts = 5

// A pursuit records the programs that a process becomes and starts, each into a recording of its own.
type pursuit struct {
	f        *recordFlags
	signals  *signals
	root     *sampler.Process
	follower *sampler.Follower
	began    time.Time // the first recording

	mu       sync.Mutex
	say      *narrator
	newest   int         // process, whose progress is told
	attempts map[int]int // that failed, of the process
	failed   map[int]error
	made     int    // recordings
	largest  string // of them
	samples  int64  // in that
	brief    []string
}

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

// follow records programs until the context is done, the duration is over, or there will be none any more.
func (r *pursuit) follow(ctx context.Context, o sampler.FollowOptions) error {
	follower, err := sampler.Follow(r.root, o)
	if err != nil {
		return goesOn(r.root, err)
	}
	r.follower, r.attempts, r.failed = follower, map[int]int{}, map[int]error{}
	r.tell("waiting for the program to record; Ctrl-C ends that")
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var takes sync.WaitGroup
	for p := range follower.Programs(watching) {
		left, file := r.left(stop), r.f.outputs.claim(p.Name)
		takes.Go(func() { r.record(ctx, p, file, left) })
	}
	takes.Wait()
	r.await(ctx)
	return r.conclude(ctx)
}

// left is how long a recording may last that begins now, 0 for any time. The first begins the duration of all; when that
// is over, stop is called.
func (r *pursuit) left(stop func()) time.Duration {
	limit := r.f.options.Duration
	if limit == 0 {
		return 0
	}
	if r.began.IsZero() {
		r.began = time.Now()
	}
	left := max(limit-time.Since(r.began), time.Nanosecond)
	time.AfterFunc(left, stop)
	return left
}

// record makes one recording.
func (r *pursuit) record(ctx context.Context, p *sampler.Process, file string, left time.Duration) {
	if p != r.root {
		defer p.Release()
	}
	cause, err := r.take(ctx, p, file, left)
	r.mu.Lock()
	delete(r.failed, p.PID)
	if err != nil {
		r.failed[p.PID] = prefix(p.PID, err)
	}
	r.mu.Unlock()
	if cause == sampledata.EndExec {
		r.follower.Again(p.PID)
	} else if err != nil {
		r.tell("not recorded: %v", prefix(p.PID, err))
	}
}

// take attaches to a process and records it. The cause is EndExec where the process is to be looked at again.
func (r *pursuit) take(ctx context.Context, p *sampler.Process, file string, left time.Duration) (sampledata.EndCause, error) {
	b, err := r.attach(p)
	switch {
	case err != nil:
		r.f.outputs.release(file)
		return r.retry(p.PID), err
	case b == nil:
		r.f.outputs.release(file)
		return sampledata.EndUnknown, nil
	}
	defer b.Close()
	r.tell("following to %s (process %d), into %s; Ctrl-C ends the recording", p.Name, p.PID, file)
	r.mu.Lock()
	r.newest = p.PID
	r.mu.Unlock()
	o := r.f.options
	o.Duration = left
	o.Progress = func(progress sampler.Progress) { r.progress(p.PID, progress) }
	deadlock := func(d locks.Deadlock) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.say.deadlock(p, d)
	}
	result, err := r.f.take(ctx, p, r.signals.suspendable(b), file, o, deadlock)
	if err != nil {
		return result.End.Cause, err
	}
	return r.ended(p, file, result)
}

// retry is EndExec for a process that may just have executed another program while it was attached to.
func (r *pursuit) retry(pid int) sampledata.EndCause {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.attempts[pid]++; r.attempts[pid] < mostAttempts {
		return sampledata.EndExec
	}
	return sampledata.EndUnknown
}

// attach gives no backend for a process that has ended.
func (r *pursuit) attach(p *sampler.Process) (sampler.Backend, error) {
	attach, err := backends[r.f.backend].open(p.Executable)
	var b sampler.Backend
	if err == nil {
		b, err = attach(p)
	}
	if err == nil {
		return b, nil
	}
	select {
	case <-p.Done():
		r.mu.Lock()
		defer r.mu.Unlock()
		r.brief = append(r.brief, filepath.Base(p.Name))
		return nil, nil
	case <-time.After(100 * time.Millisecond):
		return nil, err
	}
}

// ended tells what became of a recording; one without samples is taken away again.
func (r *pursuit) ended(p *sampler.Process, file string, result sampler.Result) (sampledata.EndCause, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.say.clear()
	if result.Samples == 0 {
		r.brief = append(r.brief, filepath.Base(p.Name))
		return result.End.Cause, r.f.outputs.discard(file)
	}
	became := becameOf(p, result.End)
	if result.End.Cause == sampledata.EndInterrupted && r.root.Launched && r.signals.fromTerminal() {
		became = "interrupted" // as the program is, too, which may take a moment to end
	}
	fmt.Fprintf(r.say.out, "cpprof: recorded %s (process %d) into %s: %s in %s: %s\n", filepath.Base(p.Name), p.PID, file,
		achieved(result.Progress), result.Elapsed.Round(time.Millisecond), became)
	r.made++
	if result.Samples > r.samples {
		r.largest, r.samples = file, result.Samples
	}
	if result.End.Cause == sampledata.EndExec && !r.f.followExec {
		r.say.execs()
		return sampledata.EndUnknown, nil
	}
	return result.End.Cause, nil
}

// execs says how to go on with a program that was executed in place of a recorded one.
func (n *narrator) execs() {
	fmt.Fprintln(n.out, "cpprof: add --follow-exec to go on with the program that it executed")
}

// tell says something to a person who looks on.
func (r *pursuit) tell(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.say.live {
		r.say.clear()
		fmt.Fprintf(r.say.out, "cpprof: "+format+"\n", args...)
	}
}

// progress tells how the newest of the recordings goes.
func (r *pursuit) progress(pid int, p sampler.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if pid == r.newest {
		r.say.progress(p)
	}
}

// conclude says what to do next, or why there is no recording.
func (r *pursuit) conclude(ctx context.Context) error {
	failure := r.failure()
	if r.made > 0 {
		if failure != nil {
			fmt.Fprintf(r.say.out, "cpprof: not recorded: %v\n", failure)
		}
		if len(r.brief) > 0 {
			fmt.Fprintf(r.say.out, "cpprof: ended before a first sample: %s\n", listed(r.brief))
		}
		if r.largest != "" {
			fmt.Fprintf(r.say.out, "cpprof: next: cpprof report %s\n", shellWord(r.largest))
		}
		return nil
	}
	err := goesOn(r.root, r.nothing(ctx))
	if status := handOn(r.root); status != nil {
		fmt.Fprintf(r.say.out, "cpprof: %v\n", err)
		return status
	}
	return err
}

// failure is the one of the first process that could not be recorded.
func (r *pursuit) failure() error {
	for _, pid := range slices.Sorted(maps.Keys(r.failed)) {
		return r.failed[pid]
	}
	return r.follower.Refused()
}

// nothing says why nothing was recorded, and what to do about it.
func (r *pursuit) nothing(ctx context.Context) error {
	seen := r.follower.Seen()
	switch {
	case r.failure() != nil:
		return r.failure()
	case len(r.brief) > 0:
		return fmt.Errorf("nothing was recorded: %s ended before a first sample", listed(r.brief))
	case ctx.Err() != nil:
		return errors.New("nothing was recorded: interrupted before a Go program was there to be recorded")
	case r.f.child != "" && len(seen) > 0:
		return fmt.Errorf("nothing was recorded: no program matched --child %s: these ran: %s", r.f.child, listed(seen))
	case slices.Contains(seen, "go"):
		return errors.New("nothing was recorded: the go command ran no program, or one for a few milliseconds only: " +
			"a cached test result runs nothing (add -count=1); to record the go command itself, add --child go")
	}
	return fmt.Errorf("nothing was recorded: %s started no Go program that lived for more than a few milliseconds: "+
		"check the command, or attach with -p PID to what it leaves running", filepath.Base(r.root.Name))
}

// listed gives some names, each once.
func listed(list []string) string {
	const most = 8
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	if len(list) > most {
		list = append(list[:most:most], fmt.Sprintf("and %d more", len(list)-most))
	}
	return strings.Join(list, ", ")
}
