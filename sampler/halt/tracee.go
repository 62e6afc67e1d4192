//go:build linux && (amd64 || arm64)

package halt

import (
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A tracee is a thread that the worker traces or is about to trace.
type tracee struct {
	tid     int
	state   traceeState
	signal  int  // the signal that the stop holds back; 0 for none
	polled  int  // number of calls of pollLate that found neither a stop nor an end
	wanted  bool // belongs to the current halt; otherwise an earlier halt owes it a detach
	fetched bool // its registers were read
	late    bool // it did not stop while the others were stopped
	resumes bool // it will call restart_syscall: it slept for a limited time
}

type traceeState uint8

const (
	attaching   traceeState = iota
	interrupted             // traced; will stop soon
	stopped
	asleep // in an uninterruptible sleep in the kernel: will stop before it returns to the program
	gone   // no longer traced
)

// find returns the tracee with this thread id, or nil.
func (w *worker) find(tid int) *tracee {
	for i := range w.traced {
		if w.traced[i].tid == tid {
			return &w.traced[i]
		}
	}
	return nil
}

// lock locks the worker's mutex. The worker may be pinned, so it
// must not block. The reaper keeps the mutex for a moment only.
func (w *worker) lock() {
	for !w.mu.TryLock() {
		pause(10)
	}
}

// add records a tracee before the attach, so that the reaper
// knows it even if the attach blocks.
func (w *worker) add(tid int) *tracee {
	w.lock()
	w.traced = append(w.traced, tracee{tid: tid})
	w.mu.Unlock()
	return &w.traced[len(w.traced)-1]
}

// dropGone removes the tracees that are no longer traced.
func (w *worker) dropGone() {
	w.lock()
	kept := w.traced[:0]
	for _, t := range w.traced {
		if t.state != gone {
			kept = append(kept, t)
		}
	}
	w.traced = kept
	w.mu.Unlock()
}

// seize begins to halt one thread. It ignores a thread that has ended.
func (w *worker) seize(h *Halted, tid int) error {
	if h.reader.isOver() {
		return ErrLong
	}
	t := w.add(tid)
	// Only a thread that was seized earlier can be a zombie that
	// the process waits for.
	if len(w.traced) > 1 || w.vanished {
		w.reaper.arm()
		defer w.reaper.disarm()
	}
	w.priority.raise()
	begin := time.Now()
	err := seize(tid)
	if err == unix.EPERM && tracerOf(w.pid, tid) == w.tid {
		// This thread traces it already: it was seized under
		// another id and executed another program since.
		err = nil
	}
	for end := time.Now().Add(otherHalt); err == unix.EPERM && h.begin.IsZero() &&
		time.Now().Before(end); {
		pause(50)
		err = seize(tid)
	}
	if err != nil {
		t.state = gone
		w.dropGone()
		return w.refused(tid, err)
	}
	h.seized(time.Since(begin))
	t.state, t.wanted = interrupted, true
	interrupt(tid)
	return nil
}

// otherHalt is how long a halt waits for a thread that has
// another tracer, as long as it has not halted any thread yet.
// Another sampler detaches from the thread within a millisecond.
const otherHalt = 3 * time.Millisecond

// refused returns the error for a thread that could not be
// seized; nil if the thread has merely ended. The kernel also
// returns EPERM for a thread that has another tracer. No other
// reason for EPERM is left: whoever could open the process may
// trace it.
func (w *worker) refused(tid int, err error) error {
	if err == unix.ESRCH {
		return nil
	}
	w.unpin()
	if st, e := readThreadStat(w.pid, tid); e != nil || st.State == 'Z' || st.State == 'X' {
		return nil
	}
	if err != unix.EPERM {
		return fmt.Errorf("halting thread %d of process %d: %w", tid, w.pid, err)
	}
	e := &TracedError{text: fmt.Sprintf("halting thread %d of process %d: ", tid, w.pid)}
	if tracer := tracerOf(w.pid, tid); tracer != 0 {
		by, name := ProcessOf(tracer)
		e.By = by
		e.text += fmt.Sprintf("process %d%s traces it: end that debugger or profiler first",
			by, name)
	} else {
		e.text += "something else traced it at that moment, such as another cpprof"
	}
	return e
}

// A TracedError reports that another process traced a thread
// that was to be halted.
type TracedError struct {
	By   int // the process; 0 if it does not trace that thread any more
	text string
}

func (e *TracedError) Error() string { return e.text }

// pollLate is poll for a tracee that has not stopped in time.
// Another thread may have executed another program and taken
// over this tracee's id. The sampler's own child is not reported
// as missing then (no ECHILD), although it is no longer traced.
// So pollLate checks now and then that this worker still traces
// it.
func (w *worker) pollLate(t *tracee) {
	w.poll(t)
	if t.state != interrupted && t.state != asleep {
		return
	}
	if t.polled++; mayBeLost(t.polled) && tracerOf(w.pid, t.tid) != w.tid {
		t.state, w.vanished = gone, true
	}
}

// poll updates the state of a tracee. It does not wait, and
// consumes no state change except a zombie's.
func (w *worker) poll(t *tracee) {
	var in siginfo
	err := waitid(t.tid, &in, unix.WSTOPPED|unix.WEXITED|unix.WNOHANG|unix.WNOWAIT)
	switch {
	case err == unix.ECHILD:
		t.state, w.vanished = gone, true
	case err != nil: // a signal to the sampler interrupted the call: the next poll repeats it
	case in.ended():
		reap(w.pid, t.tid)
		t.state, w.vanished = gone, true
	default:
		if signal, ok := in.stopped(); ok {
			t.state, t.signal = stopped, signal
		}
	}
}

// awaitChange waits until a tracee has stopped or ended, or for
// some time. It reports whether one has.
func (w *worker) awaitChange() bool {
	if !w.alarm.works {
		pause(100)
		return false
	}
	var in siginfo
	_, _, e := unix.RawSyscall6(unix.SYS_WAITID, unix.P_ALL, 0, uintptr(unsafe.Pointer(&in)),
		unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT|unix.WALL|unix.WNOTHREAD, 0, 0)
	return e != unix.EINTR
}

// checkAsleep finds out whether a tracee that does not stop is
// in an uninterruptible sleep.
func (w *worker) checkAsleep(t *tracee) {
	var buf statBuffer
	if b, err := w.stats.Read(t.tid, 0, buf[:]); err == nil {
		if st, _ := statOf(b); st.State == 'D' {
			t.state = asleep
		}
	}
}

// mayBeLost reports whether to check, after a number of polls
// without a result, that the worker still traces the thread. The
// check costs as much as many polls, so it is made after 32, 64,
// 128, ... polls (the first take some milliseconds), and then
// after each further 256.
func mayBeLost(polls int) bool { return polls >= 32 && polls&(polls-1) == 0 || polls%256 == 0 }

// detachStopped detaches from all tracees that have stopped, and
// last from those that slept. The others are owed a detach.
func (w *worker) detachStopped() {
	for _, resumes := range []bool{false, true} {
		for i := range w.traced {
			if t := &w.traced[i]; t.state == stopped && t.resumes == resumes {
				w.detach(t)
			}
		}
	}
	w.dropGone()
}

func (w *worker) detach(t *tracee) {
	if !t.fetched { // owed: it stopped after its halt
		w.fetch(t)
	}
	if t.resumes && isFiltered(w.pid, t.tid) {
		endCall(t.tid)
	}
	if detach(t.tid, t.signal) == nil {
		t.state = gone
	} else {
		t.state = interrupted // killed while stopped: a later poll sees its end and reaps it
	}
}

// detachOwed detaches from the tracees of earlier halts that
// have stopped in the meantime.
func (w *worker) detachOwed() {
	for i := range w.traced {
		w.pollLate(&w.traced[i])
	}
	w.detachStopped()
	if !w.vanished {
		return
	}
	w.vanished = false
	if w.find(w.pid) == nil && tracerOf(w.pid, w.pid) == w.tid {
		w.add(w.pid).state = interrupted
		interrupt(w.pid)
	}
}
