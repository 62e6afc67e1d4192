package tui

import (
	"context"
	"time"

	"github.com/cpprof/cpprof/locks"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/sampledata"
)

// A Live is a recording that grows while it is shown.
type Live struct {
	Recording func() *sampledata.Recording // as it is now
	Ended     <-chan struct{}              // closed when it grows no more
	Outcome   func() string                // why it has ended, once it has
	Note      string                       // what a person must know meanwhile, such as where the target's output goes
	Deadlocks func() []locks.Deadlock      // that were found so far; nil if nobody looks for them
}

const (
	renewal = time.Second // between two looks at a recording that grows

	// Looking rests for so many times as long as it took, so that the target, which may want the processors, gets most of them.
	restFactor = 4
)

// A growth is how far a live recording has come on the screen.
type growth struct {
	Live
	a         *app
	outcome   string // "" while it grows
	next      time.Time
	deadlocks int // for which there was a message
}

// follow shows a live recording as it grows, until it ends or ctx is done.
func (g *growth) follow(ctx context.Context) {
	ticker := time.NewTicker(renewal)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.Ended:
			g.a.post(g.conclude)
			return
		case <-ticker.C:
			g.a.post(g.renew)
		}
	}
}

// growing reports whether there is a live recording that hasn't ended.
func (g *growth) growing() bool { return g != nil && g.outcome == "" }

// renew shows the active window anew, unless it has a job. Other windows are renewed when they are in front.
func (g *growth) renew() {
	g.warn()
	w, now := g.a.window(), time.Now()
	if g.a.jobs[w] != nil || now.Before(g.next) {
		return
	}
	g.a.recording = g.Recording()
	w.refresh()
	g.a.act(w, func() { g.next = time.Now().Add(restFactor * time.Since(now)) })
}

// conclude shows everything as it was at the end.
func (g *growth) conclude() {
	g.warn()
	g.outcome = g.Outcome()
	g.a.recording = g.Recording()
	g.a.changed()
	g.a.say("The recording has ended: %s", g.outcome)
}

// warn shows a message if a deadlock was found since the last time.
func (g *growth) warn() {
	if g.Deadlocks == nil {
		return
	}
	if all := g.Deadlocks(); len(all) > g.deadlocks {
		g.deadlocks = len(all)
		g.a.message = message{report.DeadlockLine(&all[len(all)-1]) + "; L shows it", true}
	}
}

// drawBadge says at the right end of the tabs whether the recording grows, and returns what is left of their line.
func (g *growth) drawBadge(c canvas) canvas {
	if g == nil {
		return c
	}
	text, style := " ● recording ", g.a.theme.bar.Bold(true)
	if !g.growing() {
		text, style = " ■ ended ", g.a.theme.selected.Bold(true)
	}
	left := max(0, c.width-textWidth(text))
	c.text(left, 0, text, style)
	return c.part(0, 0, left, 1)
}

// state is what the summary says of a live recording.
func (g *growth) state() (text string, bad bool) {
	deadlocks := ""
	if n := g.deadlocks; n > 0 {
		deadlocks = "; " + deadlockCount(n) + " (key L)"
	}
	if !g.growing() {
		return "■ the recording has ended" + deadlocks + ": " + report.Printable(g.outcome), true
	}
	text = "● recording; q ends it" + deadlocks
	if g.Note != "" {
		text += "; " + g.Note
	}
	return text, deadlocks != ""
}
