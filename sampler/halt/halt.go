//go:build linux && (amd64 || arm64)

package halt

import (
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// A Thread is a halted thread.
type Thread struct {
	TID int
	Registers

	// Late reports whether the thread was still waiting for a
	// CPU, and so has not stopped yet. It runs no code of the
	// program any more, but its registers are read only when it
	// gets a CPU.
	Late bool
}

// A Halted is a process while some of its threads are halted. It
// must not be kept after the function that it was passed to
// returns.
type Halted struct {
	w       *worker
	reader  *Reader
	limit   time.Duration // of the halt; 0: none, or the halt is over
	begin   time.Time     // when the first thread was interrupted; zero before
	number  int           // of threads that were seized
	seizing time.Duration // how long that took, but for the first
	threads []Thread
	patient time.Duration // how long threads that have not stopped are waited for; 0: they are late
}

// A Halt is a summary of one halt.
type Halt struct {
	// how long threads were halted: from the first interrupt to
	// the detach, and the stops of late threads
	Took    time.Duration
	Threads int // number of halted threads, late ones included
	Late    int // number of late threads
	// number of other threads that did not stop in time; each is
	// detached from as soon as it stops
	Owed int
}

// A Halter halts threads of a process. It is valid only within
// the function that Do passed it to.
type Halter struct {
	p *Process
	w *worker
}

// Do calls f on the OS thread that traces the process, and
// returns when f has returned. Only one f runs at a time. A
// caller that does several things in one f saves the switches
// between OS threads, which cost tens of microseconds each.
func (p *Process) Do(f func(*Halter)) error {
	for {
		w, err := p.worker()
		if err != nil {
			return err
		}
		r := request{f: func() { w.do(p, f) }, done: make(chan struct{})}
		select {
		case w.requests <- r:
			<-r.done
			return nil
		case <-w.ended: // Release ended this worker: the next one takes the request
		}
	}
}

// do calls f. Afterwards the priority is the usual one again,
// and the worker is not pinned, whatever f did.
func (w *worker) do(p *Process, f func(*Halter)) {
	defer w.unpin()
	defer w.priority.lower()
	w.reaper.ready()
	f(&Halter{p, w})
}

// SleepUntil sleeps until a given time with the raised priority,
// which lasts until the end of the next halt.
func (h *Halter) SleepUntil(at time.Time) {
	h.w.sleepUntil(at)
	h.w.unpin()
}

// sleepUntil does what Halter.SleepUntil says, and leaves the
// worker pinned. If it were interrupted when it wakes, it would
// go on at a moment at which the target gives up a CPU. It may
// be interrupted as long as it sleeps: the scheduler ends the
// sleep by a signal.
func (w *worker) sleepUntil(at time.Time) {
	w.priority.raise()
	w.pin()
	for left := time.Until(at); left > 0; left = time.Until(at) {
		pause(left.Microseconds() + 1)
		if time.Until(at) > breath {
			w.breathe()
		}
	}
}

// breath is how long an interruption by the scheduler takes at
// least if the machine is busy.
const breath = 2 * time.Millisecond

// Halt does one halt, as Halter.Halt and Halter.AwaitLate do, in
// a Do of its own. longest bounds it in place of LimitHalts,
// however many threads there are, and whatever takes the time;
// with 0, the bound of LimitHalts counts. If the process has
// ended or has executed another program, Halt returns ErrEnded
// or ErrExec.
func (p *Process) Halt(longest, limit time.Duration, f func(*Halted) error,
	late func(Thread)) (halt Halt, err error) {
	if closed := p.Do(func(h *Halter) {
		if longest > 0 {
			defer func(limit time.Duration) { p.limit, p.exact = limit, false }(p.limit)
			p.limit, p.exact = longest-longest/8, true // the rest is for letting go
		}
		if halt, err = h.Halt(time.Time{}, f); err == nil {
			var stood time.Duration
			stood, err = h.AwaitLate(limit, late)
			halt.Took += stood
		}
	}); closed != nil {
		return halt, closed
	}
	if end := p.Check(); end != nil {
		return halt, end
	}
	return halt, err
}

// Halt sleeps until a given time, or does not sleep if that has
// passed. The thread has its raised priority meanwhile, so that
// it wakes on time even if the machine is busy. Then Halt calls
// f, which passes the threads to halt to Halted.Threads and
// reads what it needs. When f returns, the halted threads are
// detached from; late ones only by AwaitLate. The priority stays
// raised until then, and the goroutine must not block in Go:
// neither f nor what comes between the halt and AwaitLate may
// wait for another goroutine.
//
// Halt returns ErrGone if the program has gone, and ErrLong if
// the halt has exceeded its limit. The threads are detached from
// in any case.
func (h *Halter) Halt(at time.Time, f func(*Halted) error) (Halt, error) {
	halt, err := h.w.halt(h.p, at, f)
	return halt, h.checked(err)
}

// Again halts further threads for a moment, between a halt and
// its AwaitLate. It calls f with each one. It detaches from
// those that have stopped. AwaitLate also waits for the late
// ones.
//
// The result is how long the threads were stopped at most.
// Errors are as for Halt.
func (h *Halter) Again(tids []int, f func(Thread)) (took time.Duration, err error) {
	before, begin := len(h.w.halted.threads), time.Now()
	threads, err := h.w.halted.Threads(tids)
	for _, th := range threads[before:] {
		f(th)
	}
	h.w.detachStopped()
	return time.Since(begin), h.checked(err)
}

// AwaitLate waits for the late threads of the last halt, if
// there are any. It calls the function late with each one that
// stops, together with its registers, and then detaches from it.
// In that function, memory that only this thread writes to, such
// as its stack, can still be read. If a late thread does not
// stop within the limit, late is not called for it.
//
// The result is for how long any of these threads was seen
// stopped. Errors are as for Halt.
func (h *Halter) AwaitLate(limit time.Duration, late func(Thread)) (stood time.Duration,
	err error) {
	stood, err = h.w.halted.awaitLate(limit, late)
	h.w.unpin()
	h.w.priority.lower()
	h.w.detachOwed()
	return stood, h.checked(err)
}

// checked returns the given error, or ErrGone if the program has
// gone. This thread must be free to reap before it can find out
// whether the process ended or executed another program: the
// execution waits for the reaping.
func (h *Halter) checked(err error) error {
	if !h.p.sameProgram() {
		return ErrGone
	}
	return err
}

// seized takes note that a thread was seized, and how long that
// took: the first one begins the halt. To seize a thread takes
// long only if the program is stopped by a signal anyway, and
// the thread waits for a CPU, or if it is executing another
// program.
func (h *Halted) seized(took time.Duration) {
	if h.begin.IsZero() {
		h.begin = time.Now()
	} else {
		h.seizing += took
	}
	h.number++
	switch {
	case h.limit == 0:
	case h.reader.p.exact:
		h.reader.end = h.begin.Add(h.limit)
	default:
		h.reader.end = h.begin.Add(h.seizing + h.limit*time.Duration(1+h.number/64))
	}
}

// Reader returns the reader for the process's memory during the halt.
func (h *Halted) Reader() *Reader { return h.reader }

// lateAfter is how long a thread has to stop before it counts as
// late. A thread on a CPU stops within microseconds. A thread
// that has not stopped by then waits for a CPU or is in the
// kernel; it gets no further than the end of its system call.
//
// The halt does not sleep until then. If it did, its CPU would
// run something else, such as a thread of the process that holds
// no processor of the Go scheduler yet: that thread would take
// one, and run goroutines that were ready at the halt.
const lateAfter = 20 * time.Microsecond

// Threads halts the given threads, except those that are already
// halted or have ended. It returns all threads that are halted
// so far, each with the registers that it had when it was
// halted. A thread in an uninterruptible sleep is not in the
// result, but it does not return to the program before the halt
// is over.
func (h *Halted) Threads(tids []int) ([]Thread, error) {
	w := h.w
	for _, tid := range tids {
		if t := w.find(tid); t != nil {
			t.wanted = true
			if t.state == interrupted {
				w.checkAsleep(t) // probably still in the sleep that it was in during the last halt
			}
			continue
		}
		if err := w.seize(h, tid); err != nil {
			return h.threads, err
		}
	}
	for end := time.Now().Add(lateAfter); ; {
		running, err := h.collectStopped()
		w.dropGone()
		switch late := time.Since(end); {
		case running == 0 || err != nil:
			return h.threads, err
		case late < 0:
		case late > h.patient && h.patient > 0:
			h.w.unpin()
			return h.threads, fmt.Errorf("%d threads did not stop within %v", running, h.patient)
		default:
			if h.markLate(); h.patient == 0 {
				return h.threads, nil
			}
			pause(20)
		}
	}
}

// All halts all threads of the process, until no new one
// appears. Given a patience, it does so for a function that
// needs the registers of each, and that may block in Go: unlike
// Threads, it waits for those that have no CPU yet, at most for
// the given time.
func (h *Halted) All(patience time.Duration) ([]Thread, error) {
	if h.patient = patience; patience > 0 {
		h.w.unpin()
	}
	for known := -1; ; {
		tids, err := h.reader.p.Threads()
		if err == nil {
			_, err = h.Threads(tids)
		}
		if err != nil || h.number == known {
			return h.threads, err
		}
		known = h.number
	}
}

// collectStopped reads the registers of the threads that have
// stopped, and returns the number of those that have not.
func (h *Halted) collectStopped() (running int, err error) {
	w := h.w
	for i := range w.traced {
		t := &w.traced[i]
		if !t.wanted || t.late {
			continue
		}
		if t.state == interrupted || t.state == asleep {
			w.poll(t)
		}
		if t.state == stopped && !t.fetched {
			th, ok, err := w.fetch(t)
			if err != nil {
				return running, err
			}
			if ok {
				h.threads = append(h.threads, th)
			}
		}
		if t.state == interrupted {
			running++
		}
	}
	return running, nil
}

// markLate marks the threads as late that have neither stopped
// nor are in an uninterruptible sleep, unless they are waited
// for.
func (h *Halted) markLate() {
	for i := range h.w.traced {
		t := &h.w.traced[i]
		if !t.wanted || t.late || t.state != interrupted {
			continue
		}
		if h.w.checkAsleep(t); t.state == interrupted && h.patient == 0 {
			t.late = true
			h.threads = append(h.threads, Thread{TID: t.tid, Late: true})
		}
	}
}

// patience is for how long Go's scheduler waits for the worker
// while that waits for late threads: longer than a sampler waits
// for them. If the worker were interrupted meanwhile, a thread
// that stops would stand still until the worker gets a CPU
// again.
const patience = 300 * time.Millisecond

// awaitLate does what Halter.AwaitLate says. Threads of earlier halts are
// detached from as soon as they stop, too.
func (h *Halted) awaitLate(limit time.Duration, late func(Thread)) (stood time.Duration,
	err error) {
	w := h.w
	if !h.hasLate() {
		return 0, nil
	}
	w.alarm.set(alarmEvery, alarmEvery)
	defer w.alarm.set(0, 0)
	told := false
	for begin := time.Now(); ; {
		polled := time.Now()
		done, err := h.pollLate(late)
		if done > 0 {
			stood += time.Since(polled)
		}
		w.dropGone()
		if err != nil || !h.hasLate() || time.Since(begin) > limit {
			return stood, err
		}
		if done == 0 && time.Since(begin) > patience {
			w.breathe() // no thread has just stopped
		}
		if told && done == 0 {
			// what the kernel told of is nothing that pollLate
			// ends, so it would tell that again at once
			pause(100)
		}
		told = w.awaitChange()
	}
}

// hasLate reports whether there are late threads that have not stopped.
func (h *Halted) hasLate() bool {
	return slices.ContainsFunc(h.w.traced,
		func(t tracee) bool { return t.late && t.state == interrupted })
}

// pollLate detaches from all threads that have stopped, after it
// has called late for this halt's threads. It returns their
// number.
func (h *Halted) pollLate(late func(Thread)) (done int, err error) {
	w := h.w
	for i := range w.traced {
		t := &w.traced[i]
		if w.pollLate(t); t.state == gone {
			done++
		}
		if t.state != stopped {
			continue
		}
		if t.late {
			th, ok, err := w.fetch(t)
			if err != nil {
				return done, err
			}
			if ok {
				late(th)
			}
		}
		w.detach(t)
		done++
	}
	return done, nil
}

// fetch reads the registers of a thread that has stopped. It
// returns false if the thread was killed while stopped.
func (w *worker) fetch(t *tracee) (th Thread, ok bool, err error) {
	th.TID = t.tid
	if err := readRegisters(t.tid, &th.Registers); err != nil {
		if err == unix.ESRCH {
			t.state = interrupted // killed: a later poll sees its end
			return th, false, nil
		}
		w.unpin()
		return th, false, fmt.Errorf("reading the registers of thread %d: %w", t.tid, err)
	}
	t.fetched, t.resumes = true, resumes(t.tid, &th.Registers)
	return th, true, nil
}

// halt does one halt; see Halter.Halt.
func (w *worker) halt(p *Process, at time.Time, f func(*Halted) error) (halt Halt, err error) {
	w.detachOwed()
	h := &w.halted
	*h = Halted{w: w, reader: p.reader, limit: p.limit, threads: h.threads[:0]}
	for i := range w.traced {
		t := &w.traced[i]
		t.wanted, t.fetched, t.late = false, false, false
	}
	w.sleepUntil(at)
	w.guard.set(longestHalt, 0)
	p.halting.Store(true)
	err = f(h)
	w.detachStopped()
	p.halting.Store(false)
	w.guard.set(0, 0)
	if !h.begin.IsZero() {
		halt.Took = time.Since(h.begin)
	}
	if h.reader.cut {
		err = ErrLong
	}
	h.limit, h.reader.end, h.reader.cut = 0, time.Time{}, false
	halt.Threads = len(h.threads)
	for _, th := range h.threads {
		if th.Late {
			halt.Late++
		}
	}
	halt.Owed = len(w.traced) - halt.Late
	return halt, err
}
