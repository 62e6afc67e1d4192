package tui

import (
	"context"
	"time"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/locks"
	"github.com/gdamore/tcell/v2"
)

// A Live is a recording that grows while the Analyzer shows it.
type Live struct {
	Recording func() *sampledata.Recording // returns its current state
	Ended     <-chan struct{}              // closed when it stops growing
	Outcome   func() string                // returns why it has ended, once it has
	// a note for the user, such as the file of the target's output
	Note string
	// returns those found so far; nil if there is no search for them
	Deadlocks func() []locks.Deadlock
}

const (
	renewal = time.Second // time between two updates of a recording that grows

	// After an update, the Analyzer rests for restFactor times
	// the update's duration. The target then gets most of the
	// processors.
	restFactor = 4
)

// A growth is the state of a live recording on the screen.
type growth struct {
	Live
	a         *app
	outcome   string // "" while it grows
	next      time.Time
	deadlocks int // number of those with a message so far
}

// watch shows a live recording as it grows, until it ends or ctx is done.
func (g *growth) watch(ctx context.Context) {
	ticks := time.Tick(renewal)
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.Ended:
			g.a.post(g.conclude)
			return
		case <-ticks:
			g.a.post(g.renew)
		}
	}
}

// growing reports whether there is a live recording that hasn't ended.
func (g *growth) growing() bool { return g != nil && g.outcome == "" }

// renew updates the active window, unless it has a job. Other
// windows are updated when they become active.
func (g *growth) renew() {
	g.warn()
	w, now := g.a.window(), time.Now()
	if g.a.jobs[w] != nil || now.Before(g.next) {
		return
	}
	g.a.grown(g.Recording())
	w.refresh()
	g.a.act(w, func() { g.next = time.Now().Add(restFactor * time.Since(now)) })
}

// conclude shows the final state of the recording.
func (g *growth) conclude() {
	g.warn()
	g.outcome = g.Outcome()
	g.a.grown(g.Recording())
	g.a.changed()
	g.a.say("The recording has ended: %s", g.outcome)
}

// warn shows a message if a deadlock was found since the last call.
func (g *growth) warn() {
	if g.Deadlocks == nil {
		return
	}
	if all := g.Deadlocks(); len(all) > g.deadlocks {
		g.deadlocks = len(all)
		g.a.message = message{report.DeadlockLine(&all[len(all)-1]) + "; L shows it", true}
	}
}

// drawBadge shows at the right end of the tabs whether the
// recording grows, and returns the rest of the line.
func (g *growth) drawBadge(c canvas) canvas {
	if g == nil {
		return c
	}
	text, style := " ● recording ", g.a.theme.bar.Bold(true)
	if !g.growing() {
		text, style = " ■ ended ", g.a.theme.selected.Bold(true)
	}
	return c.badge(text, style)
}

// state returns the summary's line on a live recording.
func (g *growth) state() (text string, style tcell.Style) {
	style = g.a.theme.title
	deadlocks := ""
	if n := g.deadlocks; n > 0 {
		style = g.a.theme.err
		deadlocks = "; " + deadlockCount(n) + " (key L)"
	}
	if !g.growing() {
		return "■ the recording has ended" + deadlocks + ": " + printable(g.outcome), g.a.theme.err
	}
	text = "● recording; q ends it" + deadlocks
	if g.Note != "" {
		text += "; " + g.Note
	}
	return text, style
}
