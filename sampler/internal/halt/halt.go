//go:build linux && (amd64 || arm64)

package halt

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// A Thread is a halted thread.
type Thread struct {
	TID int
	Registers
}

// A Halted is what a function sees of a process while threads of it are halted. It must not be kept.
type Halted struct {
	w        *worker
	reader   *Reader
	deadline time.Time
	begin    time.Time // when the first thread was interrupted; zero before
	threads  []Thread
}

// A Halt counts what a halt did.
type Halt struct {
	Took    time.Duration // from the first interrupt until the last thread was let go
	Threads int           // that were halted
	Owed    int           // that did not stop in time, and are let go as soon as they do
}

// A Halter halts threads of a process. It is of use only within the function that Do gave it to.
type Halter struct {
	p *Process
	w *worker
}

// Do calls f on the OS thread that halts, alone, and returns when f has. Several things done in one f need no
// hand-over between OS threads, which costs tens of microseconds each time.
func (p *Process) Do(f func(*Halter)) error {
	r := request{f: func() { f(&Halter{p, p.w}) }, done: make(chan struct{})}
	select {
	case p.w.requests <- r:
		<-r.done
		return nil
	case <-p.w.ended:
		return errors.New("halting a process that was closed")
	}
}

// Halt is a Do that only halts. When the process has ended or executed another program it says so.
func (p *Process) Halt(limit time.Duration, f func(*Halted) error) (halt Halt, err error) {
	if closed := p.Do(func(h *Halter) { halt, err = h.Halt(limit, f) }); closed != nil {
		return halt, closed
	}
	if end := p.Check(); end != nil {
		return halt, end
	}
	return halt, err
}

// Halt calls f, which halts the threads it names to Threads and reads what it needs; when f returns they are let go.
// It ends with ErrSlow when a thread takes longer to stop than the limit, and with ErrGone when the program has gone;
// the threads are let go in any case.
func (h *Halter) Halt(limit time.Duration, f func(*Halted) error) (Halt, error) {
	halt, err := h.w.halt(h.p, limit, f)
	if !h.p.there() {
		// What became of it is to be found out when this thread is free to reap: executing another program waits for it.
		err = ErrGone
	}
	return halt, err
}

// Reader reads the process's memory in the halt.
func (h *Halted) Reader() *Reader { return h.reader }

// dozeAfter is the pause, in microseconds, before which a thread is given the time to stop.
const dozeAfter = 160

// Threads halts these threads, except those that are halted already or have ended, and gives all that are halted so
// far. A thread's registers are those that it was halted with. One that sleeps uninterruptibly is not among them, but
// does nothing in the program either until the halt is over.
func (h *Halted) Threads(tids []int) ([]Thread, error) {
	w := h.w
	for _, tid := range tids {
		if t := w.find(tid); t != nil {
			t.wanted = true
			if t.state == interrupted {
				w.doze(t) // as it did in the halt before, in all likelihood
			}
			continue
		}
		if err := w.seize(h, tid); err != nil {
			return h.threads, err
		}
	}
	for wait := int64(10); ; wait = min(2*wait, 500) {
		running := 0
		for i := range w.traced {
			t := &w.traced[i]
			if !t.wanted {
				continue
			}
			if t.state == interrupted || t.state == asleep {
				w.poll(t)
			}
			if t.state == interrupted && wait >= dozeAfter {
				w.doze(t)
			}
			if t.state == stopped {
				if err := h.take(t); err != nil {
					return h.threads, err
				}
			}
			if t.state == interrupted {
				running++
			}
		}
		w.sweep()
		if running == 0 {
			return h.threads, nil
		}
		if time.Now().After(h.deadline) {
			return h.threads, ErrSlow
		}
		pause(wait)
	}
}

// take notes the registers of a thread that has stopped, once.
func (h *Halted) take(t *tracee) error {
	if t.taken {
		return nil
	}
	th := Thread{TID: t.tid}
	if err := readRegisters(t.tid, &th.Registers); err != nil {
		if err == unix.ESRCH { // killed in its stop: its end is still to be seen
			t.state = interrupted
			return nil
		}
		return fmt.Errorf("reading the registers of thread %d: %w", t.tid, err)
	}
	t.taken = true
	h.threads = append(h.threads, th)
	return nil
}

// halt does one halt.
func (w *worker) halt(p *Process, limit time.Duration, f func(*Halted) error) (halt Halt, err error) {
	w.settle()
	h := &w.halted
	*h = Halted{w: w, reader: p.reader, threads: h.threads[:0], deadline: time.Now().Add(limit)}
	for i := range w.traced {
		w.traced[i].wanted, w.traced[i].taken = false, false
	}
	err = f(h)
	halt.Threads = len(h.threads)
	w.release()
	if !h.begin.IsZero() {
		halt.Took = time.Since(h.begin)
	}
	w.priority.lower()
	w.settle()
	halt.Owed = len(w.traced)
	return halt, err
}
