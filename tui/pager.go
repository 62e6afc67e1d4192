package tui

import (
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/gdamore/tcell/v2"
)

// A pager is the visible range of a text.
type pager struct {
	area canvas // of the last drawing
	top  int    // the first line in sight
}

// A textLine is a line of a text, in its style.
type textLine struct {
	text  string
	style tcell.Style
}

// styled returns texts as lines of a width in one style.
func styled(width int, style tcell.Style, texts ...string) (lines []textLine) {
	for _, text := range texts {
		for _, line := range wrap(printable(text), width) {
			lines = append(lines, textLine{line, style})
		}
	}
	return lines
}

// toEnd is a top behind every last line; drawing replaces it by
// the last one that there can be.
const toEnd = 1 << 30

// scroll moves the visible range by lines. inSight limits it
// later, when the text is drawn.
func (p *pager) scroll(by int) { p.top += by }

// inSight returns the lines to draw on an area, out of a number
// of lines, from first to before last.
func (p *pager) inSight(area canvas, lines int) (first, last int) {
	p.area = area
	p.top = max(0, min(p.top, lines-area.height))
	return p.top, min(lines, p.top+area.height)
}

// key scrolls by a key, and reports whether the key scrolls.
func (p *pager) key(name string) bool {
	switch name {
	case "j", "Down":
		p.scroll(1)
	case "k", "Up":
		p.scroll(-1)
	case "PgDn", "Space", "Ctrl-F":
		p.scroll(p.area.height)
	case "PgUp", "Ctrl-B":
		p.scroll(-p.area.height)
	case "g", "Home":
		p.top = 0
	case "G", "End":
		p.top = toEnd
	default:
		return false
	}
	return true
}

// A page is a text over the window. Some keys scroll it; every
// other key closes it, and so does a click.
type page struct {
	a *app
	pager

	// lines returns the functions that draw each line, for a width.
	lines func(width int) []func(canvas)
}

// newTextPage returns a page of a text, which may change.
func newTextPage(a *app, text func() string) *page {
	return &page{a: a, lines: func(width int) []func(canvas) {
		return lists.Each(wrap(text(), width-2), func(line string) func(canvas) {
			return func(c canvas) { c.text(1, 0, line, a.theme.plain) }
		})
	}}
}

func (p *page) draw(c canvas) {
	t := p.a.theme
	c.clear(t.plain)
	lines := p.lines(c.width)
	first, last := p.inSight(c, len(lines))
	for i, draw := range lines[first:last] {
		draw(c.part(0, i, c.width, 1))
	}
	if last < len(lines) {
		c.fill(c.height-1, t.plain)
		c.text(1, c.height-1, "▼ more", t.dim)
	}
}

func (p *page) key(name string) {
	if !p.pager.key(name) {
		p.a.overlay = nil
	}
}

func (p *page) click(int, int) { p.a.overlay = nil }

// A pane is a text about one thing, below a title, in a part of
// a window; its keys are J and K.
type pane struct {
	pager
	of    string // subject of the text that was drawn last
	found string // subject of the text that find has scrolled
}

// find scrolls down to a line of a text about something, once.
// It does nothing for line 0, which is in sight anyway.
func (p *pane) find(of string, line, height int) {
	if line == 0 || p.found == of {
		return
	}
	p.of, p.found = of, of
	p.top = max(0, line+report.AroundLine+1-height)
}

// draw draws the lines of a text. It begins at the first line if
// the last text was about something else.
func (p *pane) draw(c canvas, t *theme, title, of string, lines []textLine) {
	if p.of != of {
		p.of, p.found, p.top = of, "", 0
	}
	c.bar(title, t)
	body := c.part(1, 1, c.width-1, c.height-1)
	first, last := p.inSight(body, len(lines))
	drawScrolled(c, "J K scroll ", first, len(lines)-last, t.bar)
	for y, l := range lines[first:last] {
		body.text(0, y, l.text, l.style)
	}
}

// drawDetails draws texts about something. The first one stands out.
func (p *pane) drawDetails(c canvas, t *theme, title, of string, texts []string) {
	p.draw(c, t, title, of, append(styled(c.width-2, t.bold, texts[0]),
		styled(c.width-2, t.plain, texts[1:]...)...))
}

// mouse scrolls if the wheel turns over the pane, and reports
// whether it handled the action.
func (p *pane) mouse(action mouseAction, x, y int) bool {
	_, _, inside := p.area.has(x, y)
	return inside && wheeled(action, p.scroll)
}

// bindings are the keys of a pane; the first one has the label.
func (p *pane) bindings(label string) []binding {
	return []binding{
		on("J", label, "scroll the details down", func() { p.scroll(1) }),
		on("K", "", "scroll the details up", func() { p.scroll(-1) }),
	}
}
