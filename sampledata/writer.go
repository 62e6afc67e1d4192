package sampledata

import (
	"errors"
	"fmt"
	"time"
)

// flushInterval is half of the time that a killed sampler may
// lose. A late timer then does no harm.
const flushInterval = 500 * time.Millisecond

// A Writer writes a recording to files while it is made. It is a
// Sink. Its methods may be called from any goroutine, and don't
// wait for the disk. Unless the disk is busy, all data is in the
// files within a second: a sampler that is killed loses no more
// than one second. Finish and Close sync the files to the disk.
// A write error is final: each later call returns it again. If
// something breaks a rule, a Writer does the same as a
// [Builder].
type Writer struct {
	*keeper
	*encoder
	dir       *folder
	statesNow          // of the goroutines in the last sample
	backlog   *backlog // writes the files
	timer     *time.Timer
	pending   bool     // whether the timer runs
	unsaid    warnings // since the last flush
}

var _ Sink = (*Writer)(nil)

// Create makes the folder dir for a recording, and the files in
// it. If the folder exists, it must be empty.
func Create(dir string, h Header) (*Writer, error) {
	return create(dir, h, false)
}

// Replace is Create, but the folder may contain a recording,
// which Replace deletes. If it contains anything else, Replace
// changes nothing and returns an error.
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
	w := &Writer{dir: folder, keeper: &keeper{tables: newTables()},
		statesNow: make(statesNow), backlog: newBacklog()}
	enc, err := newEncoderOf(queued{w.backlog, folder.strings}, queued{w.backlog, folder.samples})
	if err != nil {
		return nil, errors.Join(err, w.backlog.close(), folder.close())
	}
	w.encoder, w.stores, w.changed = enc, []store{w}, w.arm
	w.timer = time.AfterFunc(flushInterval, w.flushLate)
	w.timer.Stop()
	w.header(&h)
	w.flush()
	if w.fail(w.backlog.wait()); w.err != nil {
		w.backlog.close()
		return nil, errors.Join(w.err, folder.close())
	}
	return w, nil
}

// Also lets a new Builder keep all that a new Writer receives
// from then on.
func (w *Writer) Also(b *Builder) {
	b.keeper = w.keeper
	w.stores = append(w.stores, b)
}

func (w *Writer) warn(kind, message string, count int64) { w.unsaid.add(kind, message, count) }

func (w *Writer) ready() error {
	w.fail(w.backlog.failed())
	return w.writeError()
}

// statesNow are the latest states of the goroutines that are not gone.
type statesNow map[GoroutineID]State

func (n statesNow) state(g GoroutineID) (State, bool) {
	s, ok := n[g]
	return s, ok
}

// take applies the changes of a sample.
func (n statesNow) take(changes []Change) {
	for _, c := range changes {
		if c.Gone {
			delete(n, c.Goroutine)
		} else {
			n[c.Goroutine] = c.State
		}
	}
}

func (w *Writer) take(s *Sample, since time.Duration, changes []Change) error {
	w.statesNow.take(changes)
	w.sample(s, since, changes, &w.tables.monitors, w.measured, w.tables.news)
	w.arm()
	return w.writeError()
}

func (w *Writer) finish(e *End) error {
	w.putWarnings()
	w.end(e, w.tables.news)
	return w.close()
}

// Close closes the files of a recording without an end, which
// counts as broken off. When it returns, they are on the disk.
// After Finish it does nothing.
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
	w.fail(w.backlog.close())
	w.fail(w.dir.close())
	return w.writeError()
}

// arm starts the timer for the next flush, unless it runs.
func (w *Writer) arm() {
	if !w.pending {
		w.pending = true
		w.timer.Reset(flushInterval)
	}
}

// flushLate is called by the timer.
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
	w.putNew()
	w.write()
}

func (w *Writer) putWarnings() {
	w.warnings(w.unsaid.list)
	w.unsaid.clear()
}

func (w *Writer) writeError() error {
	if w.err == nil {
		return nil
	}
	return fmt.Errorf("write recording %s: %w", w.dir.path, w.err)
}
