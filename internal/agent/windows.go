package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cpprof/cpprof/sampler"
)

// early is the share of a pause by which a client may come too
// early: clocks differ.
const early = 0.05

// A BusyError says that no recording may begin now.
type BusyError struct {
	What  string
	After time.Duration // try again after that
	Host  bool          // because of all that the agent does, not of this process
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%s: try again in %v", e.What, e.After.Round(time.Second))
}

// ErrChanged says that a process id is another program's now.
var ErrChanged = errors.New("the program that was asked for runs no more: another one has its process id")

// errUnmarked says that a recording has no profile of goroutines
// that are stuck.
var errUnmarked = errors.New("what is stuck for good was not found out: the program's heap could not be read in time, or --max-halt is 0")

// windows makes the recordings of all processes, and keeps the
// latest of each for as long as no other may be made.
type windows struct {
	o      *Options
	ctx    context.Context // ends with the server
	budget *budget
	tell   func(outcome string, lasted time.Duration)

	mu      sync.Mutex
	latest  map[sampler.Identity]*window // another program with the same pid has its own
	running int
	ended   sync.WaitGroup // of all recordings
}

// A window is one recording of a process, and its profiles. All
// who ask for it while it is made get them, and then, for each
// kind, the first who asks.
type window struct {
	began   time.Time
	stop    func()
	done    chan struct{} // closed when the recording is over and its profiles are made
	waiting int           // requests
	taken   map[Kind]bool
	next    time.Time // when another recording of the process may begin; set when done

	profiles Profiles // valid when done
	stuck    int      // number of goroutines; likewise
	err      error
}

func newWindows(ctx context.Context, o *Options, tell func(string, time.Duration)) *windows {
	return &windows{o: o, ctx: ctx, budget: newBudget(o), tell: tell,
		latest: map[sampler.Identity]*window{}}
}

// profile returns a profile of a process, from a recording that
// it begins, or that others have begun. If the context ends
// before the recording does, and nobody else waits for it, the
// recording ends.
func (ws *windows) profile(ctx context.Context, p *sampler.Process, kind Kind,
	lasts time.Duration) ([]byte, error) {
	w, err := ws.join(p, kind, lasts)
	if err != nil {
		return nil, err
	}
	select {
	case <-w.done:
	case <-ctx.Done():
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w.waiting--
	if w.isDone() {
		w.taken[kind] = true
		if w.err == nil && w.profiles[kind] == nil {
			return nil, errUnmarked
		}
		return w.profiles[kind], w.err
	}
	if w.waiting == 0 {
		w.stop()
	}
	return nil, ctx.Err()
}

// join returns the window that answers a request, which it
// counts as waiting.
func (ws *windows) join(p *sampler.Process, kind Kind, lasts time.Duration) (*window, error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	now := time.Now()
	ws.forget(now)
	if w := ws.latest[p.Identity()]; w != nil {
		switch {
		case w.serves(kind):
			w.waiting++
			return w, nil
		case now.Before(w.next):
			return nil, &BusyError{What: fmt.Sprintf("process %d was recorded just now", p.PID),
				After: w.next.Sub(now)}
		case !w.isDone():
			return nil, &BusyError{What: fmt.Sprintf("a recording of process %d just ends", p.PID),
				After: time.Second}
		}
	}
	if ws.running >= ws.o.AtOnce {
		return nil, &BusyError{What: fmt.Sprintf("%d processes are being recorded, which are as many as may be", ws.running), After: ws.o.Window, Host: true}
	}
	if wait := ws.budget.wait(now); wait > 0 {
		return nil, &BusyError{What: "the agent has used its processor time", After: wait,
			Host: true}
	}
	ctx, stop := context.WithCancel(ws.ctx)
	w := &window{began: now, stop: stop, done: make(chan struct{}), waiting: 1,
		taken: map[Kind]bool{}}
	ws.latest[p.Identity()] = w
	ws.running++
	ws.ended.Go(func() { ws.record(ctx, w, p, min(lasts, ws.o.Window)) })
	return w, nil
}

func (w *window) isDone() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// serves reports whether a request for a kind of profile gets it
// from this window.
func (w *window) serves(kind Kind) bool {
	if w.isDone() {
		return w.err == nil && !w.taken[kind]
	}
	return w.waiting > 0 // otherwise it was stopped
}

// forget drops the windows after which another one may begin.
func (ws *windows) forget(now time.Time) {
	for program, w := range ws.latest {
		if w.isDone() && !now.Before(w.next) {
			delete(ws.latest, program)
		}
	}
}

// record makes the recording of a window, and its profiles.
func (ws *windows) record(ctx context.Context, w *window, p *sampler.Process, lasts time.Duration) {
	defer w.stop()
	made, stuck, err := ws.o.Record(ctx, p, lasts)
	lasted := time.Since(w.began)
	outcome := "complete"
	switch {
	case ctx.Err() != nil:
		outcome, err = "abandoned", context.Cause(ctx)
	case err != nil:
		outcome = "failed"
	default:
		w.profiles, w.stuck = made, stuck
	}
	ws.tell(outcome, lasted)
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.running--
	w.err = err
	// What was recorded is a share of a time, in which nothing
	// else is: Window in Every.
	share := float64(ws.o.Every) / float64(ws.o.Window) * (1 - early)
	w.next = w.began.Add(time.Duration(float64(min(lasted, ws.o.Window)) * share))
	close(w.done)
}

// recording returns how many processes are being recorded.
func (ws *windows) recording() int {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.running
}

// stuck returns how many goroutines are stuck for good in the
// latest recordings.
func (ws *windows) stuck() (n int) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, w := range ws.latest {
		if w.isDone() {
			n += w.stuck
		}
	}
	return n
}

// A budget bounds the processor time of this process and of the
// recordings that it made. The time of a whole span may be used
// at once.
type budget struct {
	o    *Options
	most time.Duration

	left time.Duration
	at   time.Time
	used time.Duration
}

func newBudget(o *Options) *budget {
	most := time.Duration(o.MaxCPU * float64(o.Every))
	_, used := o.used()
	return &budget{o: o, most: most, left: most, at: time.Now(), used: used}
}

// wait returns how long no work may begin; 0 if it may.
func (b *budget) wait(now time.Time) time.Duration {
	share := b.o.MaxCPU // of one processor
	if share == 0 {
		return 0
	}
	_, used := b.o.used()
	b.left = min(b.most, b.left+time.Duration(share*float64(now.Sub(b.at)))-(used-b.used))
	b.at, b.used = now, used
	if b.left > 0 {
		return 0
	}
	return max(time.Second, time.Duration(float64(-b.left)/share))
}
