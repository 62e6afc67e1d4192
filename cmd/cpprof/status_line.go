package main

import (
	"io"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
)

// A statusLine is a line on a terminal that says how far
// something is. On anything else, it says nothing.
type statusLine struct {
	out    io.Writer
	live   bool // out is a terminal
	shown  bool // the line is on the screen
	latest time.Time
}

// statusEvery is the time between two texts of a statusLine.
const statusEvery = 200 * time.Millisecond

// newStatusLine returns a line that is shown after a time, if at all.
func newStatusLine(out io.Writer, isTerminal bool, after time.Duration) *statusLine {
	return &statusLine{out: out, live: isTerminal, latest: time.Now().Add(after - statusEvery)}
}

// show replaces the text, a few times per second.
func (l *statusLine) show(format string, args ...any) {
	if now := time.Now(); l.live && now.Sub(l.latest) >= statusEvery {
		l.latest, l.shown = now, true
		termtext.Fprintf(l.out, "\r\x1b[K"+format, args...)
	}
}

// clear removes the text.
func (l *statusLine) clear() {
	if l.shown {
		termtext.Fprintf(l.out, "\r\x1b[K")
	}
	l.shown = false
}
