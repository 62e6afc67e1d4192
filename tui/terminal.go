package tui

import (
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"
)

// A terminal is the screen of the Analyzer. tcell.Screen alone
// can't always be ended or suspended: both wait for the
// goroutines that read the terminal, which may wait for somebody
// to take their events; and once it has ended, it must not be
// drawn to: tcell v2.13 then never returns from Sync.
type terminal struct {
	tcell.Screen
	tty    *tty             // nil if the screen isn't drawn by writing to a terminal
	events chan tcell.Event // keys, the mouse, new sizes, errors
	once   sync.Once
	ended  chan struct{} // closed when the terminal has been given back
}

// newTerminal returns an initialized screen as a terminal.
func newTerminal(screen tcell.Screen, t *tty) *terminal {
	return &terminal{Screen: screen, tty: t, events: make(chan tcell.Event),
		ended: make(chan struct{})}
}

// pump delivers events until the terminal is given back.
func (t *terminal) pump() {
	for e := t.PollEvent(); e != nil; e = t.PollEvent() {
		select {
		case t.events <- e:
		case <-t.ended:
			return
		}
	}
}

// failed returns a channel that receives the first error of a
// write to the terminal.
func (t *terminal) failed() <-chan error {
	if t.tty == nil {
		return nil
	}
	return t.tty.failed
}

// suspend leaves the terminal to others until Resume is called.
// The events of the meantime are lost.
func (t *terminal) suspend() {
	done := make(chan struct{})
	go func() { // tcell's goroutines end; until then, they may wait for the delivery of an event
		defer close(done)
		if t.tty != nil {
			t.tty.hold()
		}
		_ = t.Suspend()
	}()
	for {
		select {
		case <-done:
			return
		case <-t.events:
		}
	}
}

// end restores the terminal. Nothing may be drawn any more.
func (t *terminal) end() {
	t.once.Do(func() {
		t.suspend()
		t.Fini()
		close(t.ended)
	})
}

// patience is how long the terminal may take to accept the last
// drawing after a signal has asked for the end.
const patience = 500 * time.Millisecond

// abortSoon ends all reading and writing if the terminal isn't
// given back in time, because the terminal doesn't accept data.
func (t *terminal) abortSoon() {
	if t.tty == nil {
		return
	}
	select {
	case <-t.ended:
	case <-time.After(patience):
		t.tty.abort()
	}
}

// stuck reports whether the terminal had to be given up.
func (t *terminal) stuck() bool { return t.tty != nil && t.tty.gaveUp() }
