package tui

import (
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/gdamore/tcell/v2"
)

// maxHead limits the lines of the head; Info shows all of them.
const maxHead = 3

// drawHead draws what was recorded and what that cost the target, and returns
// the number of its lines.
func (w *summaryWindow) drawHead(c canvas) int {
	lines := wrap(headline(w.a.path, w.a.recording), c.width-2)
	lines = lines[:min(len(lines), maxHead-1)]
	if w.compared {
		lines = []string{"new: " + headline(w.a.path, w.a.recording)}
		if other, err := w.a.others.Open(w.a.against); err == nil {
			lines = append([]string{"old: " + headline(w.a.against, other)}, lines...)
		}
	}
	for y, line := range lines {
		c.text(1, y, termtext.Cut(printable(line), c.width-2), w.a.theme.plain)
	}
	y := len(lines)
	if text, style := w.state(); text != "" {
		c.text(1, y, termtext.Cut(printable(text), c.width-2), style)
		y++
	}
	return y
}

// headline returns what was recorded, and what that cost the target.
func headline(path string, r *sampledata.Recording) string {
	var b strings.Builder
	report.Headline(&b, path, r)
	text, _, _ := strings.Cut(b.String(), "\n")
	return text
}

// state returns the state of the recording, or its warnings, or "".
func (w *summaryWindow) state() (text string, style tcell.Style) {
	r := w.a.recording
	var first string
	switch {
	case len(r.Warnings) == 1:
		first = "warning: " + r.Warnings[0].Message
	case len(r.Warnings) > 1:
		first = fmt.Sprintf("%d warnings (i shows all): %s", len(r.Warnings), r.Warnings[0].Message)
	}
	if w.a.live != nil {
		return w.a.live.state()
	}
	if r.End == nil {
		text = "the recording is incomplete"
		if first != "" {
			text += "; " + first
		}
		return text, w.a.theme.err
	}
	return first, w.a.theme.warning
}

// newInfo returns the page with all information on the recording.
func newInfo(a *app) *page {
	return newTextPage(a, func() string {
		var b strings.Builder
		if err := report.Info(&b, a.path, a.recording); err != nil {
			return err.Error()
		}
		return strings.TrimSuffix(b.String(), "\n")
	})
}
