package sampler

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// mostAttempts is how often cpprof tries to attach to a process: it may be executing another program just then.
const mostAttempts = 5

// ProgramsOptions say how to record programs as they begin.
type ProgramsOptions struct {
	Follow     FollowOptions
	FollowExec bool // record what a recorded program executes in its place, too

	// Options are those of each recording, but Duration is that of all of them together: it begins with the first one, or
	// at Began if there was one before. Each recording's Progress is its own.
	Options Options
	Began   time.Time

	Attach func(*Process) (Backend, error)

	// Found is called for each program in the order in which they begin, and says who takes its recording. It is never
	// called twice at the same time.
	Found func(*Process) ProgramRecording
}

// A ProgramRecording takes the recording of one program. Its methods are called one after the other, but at the same time
// as those of other programs' recordings.
type ProgramRecording interface {
	// Open is called when a backend is attached, and returns what the recording is to be written to. The header says
	// nothing yet of how it is sampled.
	Open(sampledata.Header) (sampledata.Sink, error)

	// Progress is called after each sample.
	Progress(Progress)

	// Ended is called when the recording is over. It may have no samples.
	Ended(Result) error

	// Failed is called in place of Ended if the recording, or opening it, failed.
	Failed(error)

	// Dropped is called if there is no recording: the program ended before a backend was attached, or it will be found
	// again (err is nil), or it can't be attached to.
	Dropped(err error)
}

// Programs is what became of an attempt to record programs.
type Programs struct {
	Seen  []string // the names of all Go programs that ran, wanted or not
	Brief []string // the names of those that ended before a first sample
	Err   error    // of one that could not be recorded: the one with the lowest PID; nil if there is none
}

// RecordPrograms records the programs that a process becomes and starts, each into a recording of its own, until the
// context is done, the duration is over, or there will be none any more. The error says that this system doesn't show what
// processes do.
func RecordPrograms(ctx context.Context, root *Process, o ProgramsOptions) (Programs, error) {
	follower, err := Follow(root, o.Follow)
	if err != nil {
		return Programs{}, err
	}
	r := &programsRecorder{o: o, root: root, follower: follower, attempts: map[int]int{}, failed: map[int]error{}}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var recordings sync.WaitGroup
	for p := range follower.Programs(watching) {
		left, to := r.left(stop), o.Found(p)
		recordings.Go(func() { r.record(ctx, p, to, left) })
	}
	recordings.Wait()
	return Programs{Seen: follower.Seen(), Brief: r.brief, Err: r.failure()}, nil
}

// A programsRecorder is one run of RecordPrograms.
type programsRecorder struct {
	o        ProgramsOptions
	root     *Process
	follower *Follower

	mu       sync.Mutex
	attempts map[int]int   // that failed, by process
	failed   map[int]error // by process: why the latest program of it was not recorded
	brief    []string
}

// left returns how long a recording that begins now may last, 0 for any time. The first one starts the clock for all;
// when their time is over, stop is called.
func (r *programsRecorder) left(stop func()) time.Duration {
	limit := r.o.Options.Duration
	if limit == 0 {
		return 0
	}
	if r.o.Began.IsZero() {
		r.o.Began = time.Now()
	}
	left := max(limit-time.Since(r.o.Began), time.Nanosecond)
	time.AfterFunc(left, stop)
	return left
}

// record makes one recording. If the process may go on to another program that is to be recorded, it is followed on.
func (r *programsRecorder) record(ctx context.Context, p *Process, to ProgramRecording, left time.Duration) {
	if p != r.root {
		defer p.Release()
	}
	again, err := r.attachAndRecord(ctx, p, to, left)
	r.mu.Lock()
	delete(r.failed, p.PID)
	if err != nil {
		r.failed[p.PID] = AttachError(p.PID, err)
	}
	r.mu.Unlock()
	if again {
		r.follower.Again(p.PID)
	}
}

func (r *programsRecorder) attachAndRecord(ctx context.Context, p *Process, to ProgramRecording, left time.Duration) (again bool, err error) {
	b, err := r.attach(p)
	switch {
	case err != nil:
		if again = r.retry(p.PID); again {
			to.Dropped(nil)
		} else {
			to.Dropped(err)
		}
		return again, err
	case b == nil:
		to.Dropped(nil)
		return false, nil
	}
	defer b.Close()
	sink, err := to.Open(b.Header())
	if err != nil {
		to.Failed(err)
		return false, err
	}
	o := r.o.Options
	o.Duration, o.Progress = left, to.Progress
	result, err := Record(ctx, p, b, sink, o)
	again = result.End.Cause == sampledata.EndExec && (r.o.FollowExec || result.Samples == 0)
	if err != nil {
		to.Failed(err)
		return again, err
	}
	if result.Samples == 0 {
		r.endedEarly(p)
	}
	return again, to.Ended(result)
}

// attach returns no backend for a process that has ended.
func (r *programsRecorder) attach(p *Process) (Backend, error) {
	b, err := r.o.Attach(p)
	if err == nil {
		return b, nil
	}
	select {
	case <-p.Done():
		r.endedEarly(p)
		return nil, nil
	case <-time.After(100 * time.Millisecond):
		return nil, err
	}
}

// retry reports whether to try again: the process may just have executed another program while a backend was being attached.
func (r *programsRecorder) retry(pid int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts[pid]++
	return r.attempts[pid] < mostAttempts
}

func (r *programsRecorder) endedEarly(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.brief = append(r.brief, filepath.Base(p.Name))
}

func (r *programsRecorder) failure() error {
	for _, pid := range slices.Sorted(maps.Keys(r.failed)) {
		return r.failed[pid]
	}
	return r.follower.Refused()
}
