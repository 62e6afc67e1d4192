package tui

import (
	"os"
	"sync"

	"github.com/gdamore/tcell/v2"
)

// A tty is the device that tcell reads keys from and writes
// drawings to. tcell ignores errors of writing, and has a
// goroutine that reads and passes on what it has read: if it is
// asked to end between the two, it may wait forever.
type tty struct {
	tcell.Tty
	failed chan error // receives the first error of a write

	mu      sync.Mutex
	changed *sync.Cond
	held    bool          // nothing is read until the next Start
	reading bool          // tcell's goroutine is in Read
	ended   bool          // tcell's goroutine got an error, and ends
	drained chan struct{} // closed when tcell wants Read to return
	aborted bool
}

func newTTY(t tcell.Tty) *tty {
	own := &tty{Tty: t, failed: make(chan error, 1)}
	own.changed = sync.NewCond(&own.mu)
	return own
}

// Start begins reading.
func (t *tty) Start() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.aborted {
		return os.ErrClosed
	}
	err := t.Tty.Start()
	t.held, t.reading, t.ended, t.drained = false, false, err != nil, make(chan struct{})
	return err
}

// Read reads from the terminal. While the terminal is held, it
// returns no bytes and waits for Drain.
func (t *tty) Read(b []byte) (int, error) {
	held := t.enter()
	var n int
	var err error
	if !held {
		n, err = t.Tty.Read(b)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held {
		drained := t.drained
		t.mu.Unlock()
		<-drained
		t.mu.Lock()
		return 0, os.ErrDeadlineExceeded
	}
	t.reading, t.ended = false, err != nil
	t.changed.Broadcast()
	return n, err
}

// enter notes that tcell's goroutine reads, and reports whether
// the terminal is held.
func (t *tty) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reading = true
	t.changed.Broadcast()
	return t.held
}

// hold makes Read return nothing any more, and waits until tcell
// has passed on all that it has read.
func (t *tty) hold() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.held = true; !t.reading && !t.ended; {
		t.changed.Wait()
	}
}

// Drain makes Read return.
func (t *tty) Drain() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.drained)
	return t.Tty.Drain()
}

// Write writes to the terminal.
func (t *tty) Write(b []byte) (int, error) {
	n, err := t.Tty.Write(b)
	if err != nil {
		select {
		case t.failed <- err:
		default:
		}
	}
	return n, err
}

// abort ends all reading and writing, also what waits now.
func (t *tty) abort() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.aborted = true
	_ = t.Tty.Close()
}

func (t *tty) gaveUp() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.aborted
}
