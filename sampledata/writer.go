package sampledata

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// flushInterval is half of what a killed sampler may lose, so that a late timer is no harm.
const flushInterval = 500 * time.Millisecond

// A Writer puts a recording into files while it is made. It is a Sink; its methods may be called from any
// goroutine, and don't wait for the disk. What it was given is in the files within a second unless the disk is busy, so that a sampler that is killed loses no more;
// Finish and Close leave them on the disk. An error in writing is final: each later call gives it again. What
// breaks a rule is treated as by a [Builder].
type Writer struct {
	mu     sync.Mutex
	dir    *folder
	tables tables
	live   map[GoroutineID]State // by goroutine that is there: what it did in the last sample
	enc    *encoder

	measured []measurement // in the last sample

	behind *backlog // through which files are written
	closed bool

	warnings warnings // since the last flush
	timer    *time.Timer
	pending  bool // the timer runs
}

var _ Sink = (*Writer)(nil)

// Create makes the folder dir for a recording, and the files in it. A folder that is there already must be empty.
func Create(dir string, h Header) (*Writer, error) {
	return create(dir, h, false)
}

// Replace is Create, but the folder may hold a recording, which is lost. A folder that holds anything else is
// left alone.
func Replace(dir string, h Header) (*Writer, error) {
	return create(dir, h, true)
}

func create(dir string, h Header, replace bool) (*Writer, error) {
	w, err := newWriter(dir, h, replace)
	if err != nil {
		return nil, fmt.Errorf("create recording %s: %w", dir, err)
	}
	return w, nil
}

func newWriter(dir string, h Header, replace bool) (*Writer, error) {
	h = h.normal()
	if err := h.check(); err != nil {
		return nil, err
	}
	folder, err := newFolder(dir, replace)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: folder, tables: newTables(), live: make(map[GoroutineID]State), behind: newBacklog()}
	enc, err := newEncoderOf(queued{w.behind, folder.strings}, queued{w.behind, folder.samples})
	if err != nil {
		return nil, errors.Join(err, w.behind.close(), folder.close())
	}
	w.enc = enc
	w.timer = time.AfterFunc(flushInterval, w.flushLate)
	w.timer.Stop()
	w.enc.header(&h)
	w.flush()
	if w.enc.fail(w.behind.wait()); w.enc.err != nil {
		w.behind.close()
		return nil, errors.Join(w.enc.err, folder.close())
	}
	return w, nil
}

// Function gives the code of a function.
func (w *Writer) Function(f Function) FunctionID {
	w.mu.Lock()
	defer w.mu.Unlock()
	id, isNew := w.tables.function(f)
	if isNew && !w.closed {
		w.enc.function(f)
		w.arm()
	}
	return id
}

// Node gives the code of a stack.
func (w *Writer) Node(n Node) NodeID {
	w.mu.Lock()
	defer w.mu.Unlock()
	id, isNew := w.tables.node(n)
	if isNew && !w.closed {
		w.enc.node(n)
		w.arm()
	}
	return id
}

// Goroutine gives a new code to a goroutine.
func (w *Writer) Goroutine(g Goroutine) GoroutineID {
	w.mu.Lock()
	defer w.mu.Unlock()
	id, isNew := w.tables.goroutine(g)
	if isNew && !w.closed {
		w.enc.goroutine(g)
		w.arm()
	}
	return id
}

// LabelSet gives the code of a set of labels, in any order; of two with one key the latter counts.
func (w *Writer) LabelSet(set []Label) LabelSetID {
	w.mu.Lock()
	defer w.mu.Unlock()
	id, isNew := w.tables.labelSet(set)
	if isNew != nil && !w.closed {
		w.enc.labelSet(isNew)
		w.arm()
	}
	return id
}

// HolderSet gives the code of a set of goroutines, in any order.
func (w *Writer) HolderSet(set []GoroutineID) HolderSetID {
	w.mu.Lock()
	defer w.mu.Unlock()
	id, isNew := w.tables.holderSet(set)
	if isNew != nil && !w.closed {
		w.enc.holderSet(isNew)
		w.arm()
	}
	return id
}

// Monitor returns the code of a monitor.
func (w *Writer) Monitor(m Monitor) MonitorID {
	w.mu.Lock()
	defer w.mu.Unlock()
	id, isNew := w.tables.monitor(m)
	if isNew && !w.closed {
		w.enc.monitor(m)
	}
	return id
}

// Measure sets a monitor's value from the next sample on.
func (w *Writer) Measure(m MonitorID, v Value) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tables.measure(m, v)
}

// LockName names a lock.
func (w *Writer) LockName(n LockName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tables.lockName(n) && !w.closed {
		w.enc.lockName(n)
		w.arm()
	}
}

// Sample ends a sample. Changes may come in any order, at most one for a goroutine; one that changes nothing
// is ignored. Neither slice is kept.
func (w *Writer) Sample(s Sample, changes []Change) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.enc.fail(w.behind.failed()); w.enc.err != nil {
		return w.writeError()
	}
	n, before := w.tables.samples, w.tables.time
	changes, err := w.tables.sample(&s, changes, w.state)
	if err != nil {
		return fmt.Errorf("sample %d: %w", n, err)
	}
	for _, c := range changes {
		if c.Gone {
			delete(w.live, c.Goroutine)
		} else {
			w.live[c.Goroutine] = c.State
		}
	}
	w.measured = w.tables.monitors.measured(w.measured[:0])
	w.enc.sample(&s, s.Time-before, changes, &w.tables.monitors, w.measured)
	w.arm()
	return w.writeError()
}

func (w *Writer) state(g GoroutineID) (State, bool) {
	s, ok := w.live[g]
	return s, ok
}

// Warn adds to a warning's count. A count below 1, or a warning without a kind, is ignored.
func (w *Writer) Warn(kind, message string, count int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.warnings.add(kind, message, count)
		w.arm()
	}
}

// Finish ends the recording and closes it. When it returns, the recording is on the disk.
func (w *Writer) Finish(e End) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tables.ended {
		return errEnded
	}
	if err := e.check(); err != nil {
		return fmt.Errorf("end: %w", err)
	}
	w.putWarnings()
	w.enc.end(&e)
	return w.close()
}

// Close leaves the recording without an end, as one that broke off, on the disk. After Finish it does nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	return w.close()
}

func (w *Writer) close() error {
	w.tables.ended, w.closed = true, true
	w.timer.Stop()
	w.flush()
	w.enc.fail(w.behind.close())
	w.enc.fail(w.dir.close())
	return w.writeError()
}

// arm sees to it that what is waiting now will be written in time.
func (w *Writer) arm() {
	if !w.pending {
		w.pending = true
		w.timer.Reset(flushInterval)
	}
}

// flushLate is what the timer calls.
func (w *Writer) flushLate() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.pending = false
	w.flush()
}

func (w *Writer) flush() {
	w.putWarnings()
	w.enc.putNew()
	w.enc.write()
}

func (w *Writer) putWarnings() {
	w.enc.warnings(w.warnings.list)
	w.warnings.clear()
}

func (w *Writer) writeError() error {
	if w.enc.err == nil {
		return nil
	}
	return fmt.Errorf("write recording %s: %w", w.dir.path, w.enc.err)
}
