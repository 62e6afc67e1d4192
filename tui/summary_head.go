package tui

import (
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/report"
)

// mostHead bounds the lines of the head, of which Info has all.
const mostHead = 3

// drawHead draws what was recorded and what that cost the target, and gives the number of lines that this takes.
func (w *summaryWindow) drawHead(c canvas) int {
	var b strings.Builder
	if err := report.Headline(&b, w.a.path, w.a.recording); err != nil {
		return 0
	}
	headline, _, _ := strings.Cut(b.String(), "\n")
	lines := wrap(headline, c.width-2)
	lines = lines[:min(len(lines), mostHead-1)]
	for y, line := range lines {
		c.text(1, y, line, w.a.theme.plain)
	}
	y := len(lines)
	if text, bad := w.state(); text != "" {
		style := w.a.theme.title
		if bad {
			style = w.a.theme.err
		}
		c.text(1, y, cut(report.Printable(text), c.width-2), style)
		y++
	}
	return y
}

// state says what is the matter with the recording, if anything is.
func (w *summaryWindow) state() (text string, bad bool) {
	r := w.a.recording
	var first string
	switch {
	case len(r.Warnings) == 1:
		first = "warning: " + r.Warnings[0].Message
	case len(r.Warnings) > 1:
		first = fmt.Sprintf("%d warnings (i shows all): %s", len(r.Warnings), r.Warnings[0].Message)
	}
	if w.a.live != nil {
		return w.a.liveState()
	}
	if r.End == nil {
		text = "the recording breaks off"
		if first != "" {
			text += "; " + first
		}
		return text, true
	}
	return first, first != ""
}

// An info is all about the recording, over the window.
type info struct {
	a    *app
	top  int // the first line shown
	page int // lines of the last drawing
}

func newInfo(a *app) *info { return &info{a: a} }

func (o *info) lines(width int) []string {
	var b strings.Builder
	if err := report.Info(&b, o.a.path, o.a.recording); err != nil {
		return []string{err.Error()}
	}
	return wrap(strings.TrimSuffix(b.String(), "\n"), width)
}

func (o *info) draw(c canvas) {
	lines := o.lines(c.width - 2)
	c.clear(o.a.theme.plain)
	o.page = c.height
	o.top = max(0, min(o.top, len(lines)-o.page))
	for y := 0; y < c.height && o.top+y < len(lines); y++ {
		c.text(1, y, lines[o.top+y], o.a.theme.plain)
	}
	if o.top+c.height < len(lines) {
		c.fill(0, c.height-1, o.a.theme.plain)
		c.text(1, c.height-1, "▼ more", o.a.theme.dim)
	}
}

// click ends it.
func (o *info) click(int, int) { o.a.overlay = nil }

func (o *info) scroll(lines int) { o.top += lines }

// key scrolls; every other key ends it.
func (o *info) key(name string) {
	switch name {
	case "j", "Down":
		o.scroll(1)
	case "k", "Up":
		o.scroll(-1)
	case "PgDn", "Space", "Ctrl-F":
		o.scroll(o.page)
	case "PgUp", "Ctrl-B":
		o.scroll(-o.page)
	default:
		o.a.overlay = nil
	}
}
