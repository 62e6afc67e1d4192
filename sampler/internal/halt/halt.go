//go:build linux && (amd64 || arm64)

package halt

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// A Thread is a halted thread.
type Thread struct {
	TID int
	Registers

	// Late is one that waits for a CPU, which something else has: it does nothing in the program any more, but stops,
	// and tells its registers, only when it gets there.
	Late bool
}

// A Halted is what a function sees of a process while threads of it are halted. It must not be kept.
type Halted struct {
	w       *worker
	reader  *Reader
	begin   time.Time // when the first thread was interrupted; zero before
	threads []Thread
}

// A Halt counts what a halt did.
type Halt struct {
	Took    time.Duration // from the first interrupt until the threads were let go, and what late ones stood beside that
	Threads int           // that were halted
	Late    int           // of these
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
	for {
		w, err := p.worker()
		if err != nil {
			return err
		}
		r := request{f: func() { f(&Halter{p, w}) }, done: make(chan struct{})}
		select {
		case w.requests <- r:
			<-r.done
			return nil
		case <-w.ended: // by Release: the next one takes the request
		}
	}
}

// Halt is a Do that only halts. When the process has ended or executed another program it says so.
func (p *Process) Halt(limit time.Duration, f func(*Halted) error, late func(Thread)) (halt Halt, err error) {
	if closed := p.Do(func(h *Halter) { halt, err = h.Halt(limit, f, late) }); closed != nil {
		return halt, closed
	}
	if end := p.Check(); end != nil {
		return halt, end
	}
	return halt, err
}

// Halt calls f, which halts the threads it names to Threads and reads what it needs; when f returns they are let go.
// Each late one is let go after it stopped and was given, with its registers, to the function for them; the memory that
// only it writes to, such as its stack, can still be read there. One that takes longer than the limit for that is not
// given. Halt ends with ErrGone when the program has gone; the threads are let go in any case.
func (h *Halter) Halt(limit time.Duration, f func(*Halted) error, late func(Thread)) (Halt, error) {
	halt, err := h.w.halt(h.p, limit, f, late)
	if !h.p.there() {
		// What became of it is to be found out when this thread is free to reap: executing another program waits for it.
		err = ErrGone
	}
	return halt, err
}

// Reader reads the process's memory in the halt.
func (h *Halted) Reader() *Reader { return h.reader }

// lateAfter is how long a thread has to stop before it counts as late. On a CPU it does so within microseconds; from
// then on, wherever it is, it gets no further than the kernel's end of a system call.
const lateAfter = 100 * time.Microsecond

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
	end := time.Now().Add(lateAfter)
	for wait := int64(10); ; wait = min(2*wait, 80) {
		running, err := h.look()
		w.sweep()
		if running == 0 || err != nil {
			return h.threads, err
		}
		if time.Now().After(end) {
			h.giveUp()
			return h.threads, nil
		}
		pause(wait)
	}
}

// look takes the registers of the threads that have stopped, and counts those that have not.
func (h *Halted) look() (running int, err error) {
	w := h.w
	for i := range w.traced {
		t := &w.traced[i]
		if !t.wanted || t.late {
			continue
		}
		if t.state == interrupted || t.state == asleep {
			w.poll(t)
		}
		if t.state == stopped && !t.taken {
			th, ok, err := w.take(t)
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

// giveUp takes the threads that have not stopped for late, those that don't sleep uninterruptibly.
func (h *Halted) giveUp() {
	for i := range h.w.traced {
		t := &h.w.traced[i]
		if !t.wanted || t.late || t.state != interrupted {
			continue
		}
		if h.w.doze(t); t.state == interrupted {
			t.late = true
			h.threads = append(h.threads, Thread{TID: t.tid, Late: true})
		}
	}
}

// await gives each late thread to a function when it has stopped, and lets it go, until the limit. It tells for how long
// at most they stood, all together.
func (h *Halted) await(limit time.Duration, late func(Thread)) (stood time.Duration, err error) {
	w := h.w
	begin := time.Now()
	for looked := begin; ; looked = time.Now() {
		left := 0
		for i := range w.traced {
			t := &w.traced[i]
			if !t.late {
				continue
			}
			w.poll(t)
			if t.state == stopped {
				th, ok, err := w.take(t)
				if err != nil {
					return stood, err
				}
				if ok {
					late(th)
				}
				w.letGo(t)
				stood += time.Since(looked)
			}
			if t.state == interrupted {
				left++
			}
		}
		w.sweep()
		waited := time.Since(begin)
		if left == 0 || waited > limit {
			return stood, nil
		}
		pause(max(20, min(waited.Microseconds()/8, 1000)))
	}
}

// take reads the registers of a thread that has stopped; not ok where it was killed in its stop.
func (w *worker) take(t *tracee) (th Thread, ok bool, err error) {
	th.TID = t.tid
	if err := readRegisters(t.tid, &th.Registers); err != nil {
		if err == unix.ESRCH {
			t.state = interrupted // its end is still to be seen
			return th, false, nil
		}
		return th, false, fmt.Errorf("reading the registers of thread %d: %w", t.tid, err)
	}
	t.taken = true
	return th, true, nil
}

// halt does one halt.
func (w *worker) halt(p *Process, limit time.Duration, f func(*Halted) error, late func(Thread)) (halt Halt, err error) {
	w.settle()
	h := &w.halted
	*h = Halted{w: w, reader: p.reader, threads: h.threads[:0]}
	for i := range w.traced {
		t := &w.traced[i]
		t.wanted, t.taken, t.late = false, false, false
	}
	err = f(h)
	w.release()
	if !h.begin.IsZero() {
		halt.Took = time.Since(h.begin)
	}
	halt.Threads = len(h.threads)
	for _, th := range h.threads {
		if th.Late {
			halt.Late++
		}
	}
	if err == nil && halt.Late > 0 {
		var stood time.Duration
		stood, err = h.await(limit, late)
		halt.Took += stood
	}
	w.priority.lower()
	w.settle()
	halt.Owed = len(w.traced)
	return halt, err
}
