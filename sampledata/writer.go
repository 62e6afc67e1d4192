package sampledata

import (
	"errors"
	"fmt"
	"time"
)

// flushInterval is half of the time that a killed sampler may lose. A late
// timer then does no harm.
const flushInterval = 500 * time.Millisecond

// A Writer writes a recording to files while it is made. It is a Sink. Its
// methods may be called from any goroutine, and don't wait for the disk. Unless
// the disk is busy, all data is in the files within a second: a sampler that is
// killed loses no more than one second. Finish and Close sync the files to the
// disk. A write error is final: each later call returns it again. If something
// breaks a rule, a Writer does the same as a [Builder].
type Writer struct {
	keeper  // its warnings are those since the last flush
	dir     *folder
	live    map[GoroutineID]State // of the goroutines in the last sample
	enc     *encoder
	backlog *backlog // writes the files
	timer   *time.Timer
	pending bool // whether the timer runs
}

var _ Sink = (*Writer)(nil)

// Create makes the folder dir for a recording, and the files in it. If the
// folder exists, it must be empty.
func Create(dir string, h Header) (*Writer, error) {
	return create(dir, h, false)
}

// Replace is Create, but the folder may contain a recording, which Replace
// deletes. If it contains anything else, Replace changes nothing and returns an
// error.
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
	w := &Writer{dir: folder, keeper: keeper{tables: newTables()},
		live: make(map[GoroutineID]State), backlog: newBacklog()}
	enc, err := newEncoderOf(queued{w.backlog, folder.strings}, queued{w.backlog, folder.samples})
	if err != nil {
		return nil, errors.Join(err, w.backlog.close(), folder.close())
	}
	w.enc, w.store, w.changed = enc, enc, w.arm
	w.timer = time.AfterFunc(flushInterval, w.flushLate)
	w.timer.Stop()
	w.enc.header(&h)
	w.flush()
	if w.enc.fail(w.backlog.wait()); w.enc.err != nil {
		w.backlog.close()
		return nil, errors.Join(w.enc.err, folder.close())
	}
	return w, nil
}

// Sample ends a sample. Changes may be in any order, at most one for each
// goroutine; Sample ignores those that change nothing. It keeps neither slice.
func (w *Writer) Sample(s Sample, changes []Change) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.enc.fail(w.backlog.failed()); w.enc.err != nil {
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
	w.enc.sample(&s, s.Time-before, changes, &w.tables.monitors, w.measured, w.tables.news)
	w.tables.news = news{}
	w.arm()
	return w.writeError()
}

func (w *Writer) state(g GoroutineID) (State, bool) {
	s, ok := w.live[g]
	return s, ok
}

// Finish ends the recording and closes its files. When it returns, they are on
// the disk.
func (w *Writer) Finish(e End) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.tables.end(&e); err != nil {
		return err
	}
	w.putWarnings()
	w.enc.end(&e, w.tables.news)
	return w.close()
}

// Close closes the files of a recording without an end, which counts as broken
// off. When it returns, they are on the disk. After Finish it does nothing.
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
	w.enc.fail(w.backlog.close())
	w.enc.fail(w.dir.close())
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
