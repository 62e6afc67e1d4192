//go:build linux && (amd64 || arm64)

package halt

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A worker is the OS thread that traces: the kernel takes ptrace's requests from the tracing thread only.
type worker struct {
	pid      int
	tid      int // of the worker's OS thread
	requests chan request
	quit     chan struct{}
	ended    chan struct{}

	priority *priority
	reaper   reaper
	halted   Halted // the storage of the halt that is under way

	mu     sync.Mutex // for the reaper's sake: it reads the tids of traced
	traced []tracee   // what may be traced by this thread

	// A tracee ended, or is not to be found under its number: it may have executed another program and be traced
	// under the number of the process.
	vanished bool
}

// A request is one call of Do.
type request struct {
	f    func()
	done chan struct{}
}

// A tracee is a thread that the worker traces, or is about to.
type tracee struct {
	tid    int
	state  traceeState
	signal int  // that the stop holds back
	polled int  // in vain
	wanted bool // in the halt that is under way; else it is owed from an earlier one
	taken  bool // its registers are read
	late   bool // it has not stopped while the others stood
}

type traceeState uint8

const (
	attaching   traceeState = iota
	interrupted             // traced, to stop soon
	stopped
	asleep // uninterruptibly, in the kernel: it will stop before it gets back to the program
	gone   // no tracee any more
)

func startWorker(pid int) *worker {
	w := &worker{
		pid:      pid,
		requests: make(chan request),
		quit:     make(chan struct{}),
		ended:    make(chan struct{}),
	}
	w.reaper.init(w)
	ready := make(chan struct{})
	go w.run(ready)
	<-ready
	return w
}

// stop ends the worker, and returns when the kernel has let go of all that it traced.
func (w *worker) stop() error {
	close(w.quit)
	<-w.ended
	if err := AwaitThreadEnd(w.tid); err != nil {
		return fmt.Errorf("letting go of process %d: %w", w.pid, err)
	}
	return nil
}

// threadEnd is far longer than an OS thread takes to end, also on a busy machine.
const threadEnd = 10 * time.Second

// AwaitThreadEnd waits until an OS thread of this process is gone. By then the kernel has let go of all that it traced.
func AwaitThreadEnd(tid int) error {
	for end := time.Now().Add(threadEnd); ; time.Sleep(50 * time.Microsecond) {
		if unix.Tgkill(unix.Getpid(), tid, 0) == unix.ESRCH {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("thread %d, which traces it, does not end", tid)
		}
	}
}

// run is the life of the worker: halts, and between them the detaches that it owes.
func (w *worker) run(ready chan struct{}) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		// The main thread doesn't end with its goroutine, and so would not let its tracees go. While this goroutine
		// holds it, another one is bound to get another thread.
		go w.run(ready)
		<-ready
		runtime.UnlockOSThread()
		return
	}
	w.tid = unix.Gettid()
	// An ordinary thread's sleep of 10 µs takes 60 otherwise.
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	w.priority = newPriority()
	defer close(w.ended)
	close(ready)
	for {
		var owed <-chan time.Time
		if len(w.traced) > 0 {
			owed = time.After(500 * time.Microsecond)
		}
		select {
		case r := <-w.requests:
			r.f()
			close(r.done)
		case <-owed:
			w.settle()
		case <-w.quit:
			// The thread ends with its goroutine, since it is locked; the kernel lets go what it still traces.
			return
		}
	}
}

// find gives the tracee of a number, nil for none.
func (w *worker) find(tid int) *tracee {
	for i := range w.traced {
		if w.traced[i].tid == tid {
			return &w.traced[i]
		}
	}
	return nil
}

// add notes a tracee before it is one, so that the reaper knows it whatever happens.
func (w *worker) add(tid int) *tracee {
	w.mu.Lock()
	w.traced = append(w.traced, tracee{tid: tid})
	w.mu.Unlock()
	return &w.traced[len(w.traced)-1]
}

// sweep forgets the tracees that are gone.
func (w *worker) sweep() {
	w.mu.Lock()
	kept := w.traced[:0]
	for _, t := range w.traced {
		if t.state != gone {
			kept = append(kept, t)
		}
	}
	w.traced = kept
	w.mu.Unlock()
}

// seize begins to halt one thread. One that has ended is passed over.
func (w *worker) seize(h *Halted, tid int) error {
	t := w.add(tid)
	// Only what was seized before can be a zombie that the process waits for.
	if len(w.traced) > 1 || w.vanished {
		w.reaper.arm()
		defer w.reaper.disarm()
	}
	w.priority.raise()
	err := seize(tid)
	if err == unix.EPERM && tracerOf(w.pid, tid) == w.tid {
		// It is traced by this thread already: it executed another program since it was seized under another number.
		err = nil
	}
	for end := time.Now().Add(otherHalt); err == unix.EPERM && h.begin.IsZero() && time.Now().Before(end); {
		pause(50)
		err = seize(tid)
	}
	if err != nil {
		t.state = gone
		w.sweep()
		return w.refused(tid, err)
	}
	if h.begin.IsZero() {
		h.begin = time.Now()
	}
	t.state, t.wanted = interrupted, true
	interrupt(tid)
	return nil
}

// otherHalt is how long a halt waits, before it has halted anything, for a thread that another tracer has: another sampler
// lets it go within a millisecond.
const otherHalt = 3 * time.Millisecond

// refused returns the reason why a thread could not be seized, nil if it just ended. The kernel's reason is "not permitted"
// also for a thread that something else traces; whoever could open the process is permitted to trace it.
func (w *worker) refused(tid int, err error) error {
	if err == unix.ESRCH {
		return nil
	}
	if st, e := readStat(tid); e != nil || st.state == 'Z' || st.state == 'X' {
		return nil
	}
	if err != unix.EPERM {
		return fmt.Errorf("halting thread %d of process %d: %w", tid, w.pid, err)
	}
	by := "something else traced it at that moment, such as another cpprof"
	if tracer := tracerOf(w.pid, tid); tracer != 0 {
		by = fmt.Sprintf("process %s traces it: end that debugger or profiler first", processOf(tracer))
	}
	return fmt.Errorf("halting thread %d of process %d: %s", tid, w.pid, by)
}

// poll looks, without waiting and without consuming anything but a zombie, what became of a tracee.
func (w *worker) poll(t *tracee) {
	var in siginfo
	err := waitid(t.tid, &in, unix.WSTOPPED|unix.WEXITED|unix.WNOHANG|unix.WNOWAIT)
	switch {
	case err == unix.ECHILD:
		t.state, w.vanished = gone, true
	case err != nil: // interrupted by a signal to the sampler: the next look will tell
	case in.ended():
		reap(w.pid, t.tid)
		t.state, w.vanished = gone, true
	default:
		if signal, ok := in.stopped(); ok {
			t.state, t.signal = stopped, signal
		} else if t.polled++; t.polled%lostAfter == 0 && tracerOf(w.pid, t.tid) != w.tid {
			// A child of the sampler stays one when it is not traced any more, since another thread that executed
			// another program took its number.
			t.state, w.vanished = gone, true
		}
	}
}

// doze finds out whether a tracee that does not stop sleeps uninterruptibly.
func (w *worker) doze(t *tracee) {
	if st, err := readStat(t.tid); err == nil && st.state == 'D' {
		t.state = asleep
	}
}

// lostAfter is how often a tracee is looked at in vain before its very being one is looked at.
const lostAfter = 8

// release lets go all tracees that have stopped. The others are owed.
func (w *worker) release() {
	for i := range w.traced {
		t := &w.traced[i]
		if t.state != stopped {
			continue
		}
		w.letGo(t)
	}
	w.sweep()
}

func (w *worker) letGo(t *tracee) {
	if detach(t.tid, t.signal) == nil {
		t.state = gone
	} else {
		t.state = interrupted // killed in its stop: its end is still to be seen, and to be reaped
	}
}

// settle gives the tracees that are left what they are owed, as far as that is possible now.
func (w *worker) settle() {
	for i := range w.traced {
		w.poll(&w.traced[i])
	}
	w.release()
	if !w.vanished {
		return
	}
	w.vanished = false
	if w.find(w.pid) == nil && tracerOf(w.pid, w.pid) == w.tid {
		w.add(w.pid).state = interrupted
		interrupt(w.pid)
	}
}

// reap takes away a zombie that was traced, so that the process can go on to end, or to execute another program.
func reap(pid, tid int) {
	if tid == pid && isChild(pid) {
		return // its exit status is for whoever waits for it
	}
	var in siginfo
	waitid(tid, &in, unix.WEXITED|unix.WNOHANG)
}

// A reaper takes away zombies of the worker's tracees while the worker is blocked in an attach. It looks at the worker
// now and then as long as there are halts, since a timer for each of them would cost as much as they do.
type reaper struct {
	w     *worker
	timer *time.Timer
	set   atomic.Bool  // the timer is
	since atomic.Int64 // when the attach began, in Unix nanoseconds; 0: none is under way
}

const (
	reapLook  = 20 * time.Millisecond // between looks at the worker
	reapAfter = 2 * time.Millisecond  // an attach takes no longer but when it is blocked
	reapEvery = time.Millisecond      // while it is
)

func (r *reaper) init(w *worker) {
	r.w = w
	r.timer = time.AfterFunc(time.Hour, r.fire)
	r.timer.Stop()
}

func (r *reaper) arm() {
	r.since.Store(time.Now().UnixNano())
	r.look()
}

func (r *reaper) disarm() { r.since.Store(0) }

// look sets the timer where it isn't.
func (r *reaper) look() {
	if !r.set.Swap(true) {
		r.timer.Reset(reapLook)
	}
}

func (r *reaper) fire() {
	since := r.since.Load()
	if since == 0 {
		r.set.Store(false)
		if r.since.Load() != 0 { // armed in this very moment
			r.look()
		}
		return
	}
	if time.Now().UnixNano()-since >= int64(reapAfter) {
		r.reap()
	}
	r.timer.Reset(reapEvery)
}

func (r *reaper) reap() {
	r.w.mu.Lock()
	tids := append([]int{r.w.pid}, tidsOf(r.w.traced)...)
	r.w.mu.Unlock()
	for _, tid := range tids {
		var in siginfo
		if waitid(tid, &in, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT) == nil && in.ended() {
			reap(r.w.pid, tid)
		}
	}
}

func tidsOf(traced []tracee) []int {
	tids := make([]int, len(traced))
	for i := range traced {
		tids[i] = traced[i].tid // of a tracee, only this does not belong to the worker alone
	}
	return tids
}
