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
	Deadlocks func() []locks.Deadlock      // that were found so far; nil where nobody looks for them
}

const (
	renewal = time.Second // between two looks at a recording that grows

	// Looking rests for so many times as long as it took, so that the target, which may want the processors, gets most of them.
	restFactor = 4
)

// A growth is how far a live recording has come on the screen.
type growth struct {
	Live
	outcome   string // "" while it grows
	next      time.Time
	deadlocks int // that the person was told of
}

// follow shows a live recording as it grows, until it ends or ctx is done.
func (a *app) follow(ctx context.Context) {
	ticker := time.NewTicker(renewal)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.live.Ended:
			a.post(a.conclude)
			return
		case <-ticker.C:
			a.post(a.renew)
		}
	}
}

// growing tells whether there is a live recording that hasn't ended.
func (a *app) growing() bool { return a.live != nil && a.live.outcome == "" }

// renew shows the active window anew. Where it is at work, that comes first; other windows wait until they are looked at.
func (a *app) renew() {
	a.warn()
	w, now := a.window(), time.Now()
	if a.jobs[w] != nil || now.Before(a.live.next) {
		return
	}
	a.recording = a.live.Recording()
	w.refresh()
	a.act(w, func() { a.live.next = time.Now().Add(restFactor * time.Since(now)) })
}

// conclude shows everything as it was at the end.
func (a *app) conclude() {
	a.warn()
	a.live.outcome = a.live.Outcome()
	a.recording = a.live.Recording()
	a.changed()
	a.say("The recording has ended: %s", a.live.outcome)
}

// warn tells of a deadlock that was found since the last time.
func (a *app) warn() {
	if a.live.Deadlocks == nil {
		return
	}
	if all := a.live.Deadlocks(); len(all) > a.live.deadlocks {
		a.live.deadlocks = len(all)
		a.message = message{report.DeadlockLine(&all[len(all)-1]) + "; L shows it", true}
	}
}

// drawBadge says at the right end of the tabs whether the recording grows, and gives what is left of their line.
func (a *app) drawBadge(c canvas) canvas {
	if a.live == nil {
		return c
	}
	text, style := " ● recording ", a.theme.bar.Bold(true)
	if !a.growing() {
		text, style = " ■ ended ", a.theme.selected.Bold(true)
	}
	left := max(0, c.width-textWidth(text))
	c.text(left, 0, text, style)
	return c.part(0, 0, left, 1)
}

// liveState is what the summary says of a live recording.
func (a *app) liveState() (text string, bad bool) {
	deadlocks := ""
	if n := a.live.deadlocks; n > 0 {
		deadlocks = "; " + deadlockCount(n) + " (key L)"
	}
	if !a.growing() {
		return "■ the recording has ended" + deadlocks + ": " + report.Printable(a.live.outcome), true
	}
	text = "● recording; q ends it" + deadlocks
	if a.live.Note != "" {
		text += "; " + a.live.Note
	}
	return text, deadlocks != ""
}
