package sampler

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// maxAttempts is how often cpprof tries to attach to a program.
// Its process may be executing another one at that moment.
const maxAttempts = 5

// ProgramsOptions configure RecordPrograms.
type ProgramsOptions struct {
	Filter     ProgramFilter
	FollowExec bool // if a recorded process executes another program, record that, too

	// Options apply to each recording. Only Duration is for all
	// recordings together: it starts with the first one, or at
	// Began if there was an earlier one. Each recording reports
	// its own Progress.
	Options Options
	Began   time.Time

	Attach func(*Process) (Backend, error)

	// Found is called for each program, in the order in which
	// they begin. It returns the receiver of the program's
	// recording. Calls never overlap.
	Found func(*Process) ProgramRecording
}

// A ProgramRecording receives the recording of one program.
// Calls of its methods never overlap, but calls for other
// programs' recordings may.
type ProgramRecording interface {
	// Open is called when a backend is attached. It returns the
	// sink to record to. The header does not say yet how the
	// program is sampled.
	Open(sampledata.Header) (sampledata.Sink, error)

	// Progress is called after each sample.
	Progress(Progress)

	// MeetPeer is called for each other process that samples the program.
	MeetPeer(Peer)

	// Ended is called when the recording is over. The recording
	// may have no samples.
	Ended(Result) error

	// Failed is called instead of Ended if Open or the recording failed.
	Failed(error)

	// Dropped is called if there is no recording. err is nil if
	// the program ended before a backend was attached, or if the
	// program will be found again. Otherwise err is the reason
	// why attaching failed.
	Dropped(err error)
}

// Programs is the outcome of RecordPrograms.
type Programs struct {
	Seen  []string // names of all Go programs that ran, selected or not
	Brief []string // names of those that ended before their first sample
	// why a program could not be recorded; of several, the one
	// with the lowest pid; nil if none
	Err error
}

// RecordPrograms records the programs that a process executes
// and starts, each in a recording of its own. It ends when the
// context is done, the duration is over, or no further program
// can start. It returns an error if this system doesn't show
// what processes run.
func RecordPrograms(ctx context.Context, root *Process, o ProgramsOptions) (Programs, error) {
	finder, err := newProgramFinder(root, o.Filter)
	if err != nil {
		return Programs{}, err
	}
	r := &programsRecorder{o: o, root: root, finder: finder, attempts: map[int]int{},
		failed: map[int]error{}}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var recordings sync.WaitGroup
	for p := range finder.programs(watching) {
		left, to := r.left(stop), o.Found(p)
		recordings.Go(func() { r.record(ctx, p, to, left) })
	}
	recordings.Wait()
	seen := slices.Sorted(maps.Keys(finder.seen))
	return Programs{Seen: seen, Brief: r.brief, Err: r.failure()}, nil
}

// A programsRecorder is one run of RecordPrograms.
type programsRecorder struct {
	o      ProgramsOptions
	root   *Process
	finder *programFinder

	mu       sync.Mutex
	attempts map[int]int   // number of failed attempts in a row, by pid
	failed   map[int]error // by pid: why the process's latest program was not recorded
	brief    []string
}

// left returns how long a recording that begins now may last; 0
// for any time. The first call starts the time that is common to
// all recordings; stop is called when that is over.
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

// record makes one recording. If the process may execute another
// program that is to be recorded, the finder considers it again.
func (r *programsRecorder) record(ctx context.Context, p *Process, to ProgramRecording,
	left time.Duration) {
	if p != r.root {
		defer p.Release()
	}
	again, err := r.attachAndRecord(ctx, p, to, left)
	r.mu.Lock()
	delete(r.failed, p.PID)
	if err != nil {
		r.failed[p.PID] = AttachError(p.PID, err)
	}
	if err == nil || errors.Is(err, ErrExec) {
		delete(r.attempts, p.PID) // the next program begins anew
	}
	r.mu.Unlock()
	if again {
		r.finder.reconsider(p.PID)
	}
}

func (r *programsRecorder) attachAndRecord(ctx context.Context, p *Process, to ProgramRecording,
	left time.Duration) (again bool, err error) {
	b, err := r.attach(p)
	switch {
	case err != nil:
		if again = errors.Is(err, ErrExec) || r.retry(p.PID); again {
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
	o := r.o.Options
	o.Duration, o.Progress, o.MeetPeer = left, to.Progress, to.MeetPeer
	recording, err := Prepare(p, b, o)
	if err != nil {
		to.Failed(err)
		return false, err
	}
	defer recording.Close()
	sink, err := to.Open(b.Header())
	if err != nil {
		to.Failed(err)
		return false, err
	}
	result, err := recording.Record(ctx, sink)
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

// attach returns a nil Backend if the process has ended.
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

// retry counts a failed attempt and reports whether to try
// again: the process may have executed another program during
// the attempt.
func (r *programsRecorder) retry(pid int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts[pid]++
	return r.attempts[pid] < maxAttempts
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
	return r.finder.refused
}
