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

// Halt calls f, which halts the threads it names to Threads and reads what it needs; when f returns they are let go.
// It ends with ErrSlow when a thread takes longer to stop than the limit, and with ErrEnded or ErrExec when the
// process did; the threads are let go in any case. f runs on an OS thread of its own, alone.
func (p *Process) Halt(limit time.Duration, f func(*Halted) error) (Halt, error) {
	r := request{p: p, limit: limit, f: f, done: make(chan struct{})}
	select {
	case p.w.requests <- &r:
		<-r.done
		// Not in the worker, which may have to reap before the process gets on with executing another program.
		if err := p.Check(); err != nil {
			return r.halt, err
		}
		return r.halt, r.err
	case <-p.w.ended:
		return Halt{}, errors.New("halting a process that was closed")
	}
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

// serve does one halt.
func (w *worker) serve(r *request) {
	defer close(r.done)
	w.settle()
	h := &w.halted
	*h = Halted{w: w, reader: r.p.raw, threads: h.threads[:0], deadline: time.Now().Add(r.limit)}
	for i := range w.traced {
		w.traced[i].wanted, w.traced[i].taken = false, false
	}
	w.reaper.arm()
	w.priority.raise()
	r.err = r.f(h)
	r.halt.Threads = len(h.threads)
	w.release()
	if !h.begin.IsZero() {
		r.halt.Took = time.Since(h.begin)
	}
	w.priority.lower()
	w.reaper.disarm()
	w.settle()
	r.halt.Owed = len(w.traced)
}
