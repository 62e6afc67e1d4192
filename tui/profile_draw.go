package tui

import (
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// A listView is which part of the rows is on the screen.
type listView struct {
	area   canvas // of the last drawing
	top    int    // the first row shown
	follow bool   // the selected row has to be in sight
	reveal int    // rows below the selected one that should be in sight too
	slider canvas // its track
	names  int    // the column where names begin
	shift  int    // columns that names are moved to the left
	pan    int    // columns that the person has moved the names to the left
}

// Draw draws the window: what it shows, the rows, the detail pane, and the threshold.
func (w *profileWindow) Draw(screen tcell.Screen) {
	c := newCanvas(screen, w)
	c.clear(w.a.theme.plain)
	if w.session == nil {
		w.drawNothing(c)
		return
	}
	w.drawTitle(c.part(0, 0, c.width, 1))
	body := c.part(0, 1, c.width, c.height-2)
	if w.detail.on {
		var pane canvas
		body, pane = divide(body)
		w.detail.draw(pane)
	}
	w.drawRows(body)
	w.drawSlider(c.part(0, c.height-1, c.width, 1))
}

// wideEnough is the width from which on the detail pane stands beside the entries and not below them.
const wideEnough = 120

// divide gives the places of the entries and of the detail pane.
func divide(c canvas) (list, pane canvas) {
	if c.width >= wideEnough {
		left := c.width * 11 / 20
		return c.part(0, 0, left, c.height), c.part(left+1, 0, c.width-left-1, c.height)
	}
	top := c.height - max(c.height*9/20, 4)
	return c.part(0, 0, c.width, top), c.part(0, top, c.width, c.height-top)
}

// drawNothing says why there are no entries.
func (w *profileWindow) drawNothing(c canvas) {
	if w.failed == nil {
		c.text(1, 1, "Building the "+w.subject.name+" …", w.a.theme.dim)
		return
	}
	for y, line := range wrap(w.failed.Error(), c.width-2) {
		c.text(1, 1+y, line, w.a.theme.err)
	}
}

// drawTitle says what the costs are fractions of, and what part of the recording they count.
func (w *profileWindow) drawTitle(c canvas) {
	m := w.session.Tree().Main()
	x := c.text(1, 0, shorten(w.subject.name, max(20, c.width/2)), w.a.theme.title)
	parts := []string{report.CountedHits(m.Denominator) + " = 1.000"}
	if w.compares() {
		parts[0] = "A: " + w.a.path + "  B: " + w.subject.against
	}
	o := w.a.options
	if o.Accounting != 0 {
		parts = append(parts, o.Accounting.String())
	}
	if o.Span != zeroSpan {
		parts = append(parts, "only "+spanText(o.Span))
	}
	for _, s := range w.session.Steps() {
		if s.Kind == refine.KindPrune {
			parts = append(parts, "pruned to "+s.Text)
		}
	}
	if text := w.attribution().brief; text != "" {
		parts = append(parts, text)
	}
	for _, warning := range w.warnings {
		parts = append(parts, "! "+warning.Message)
	}
	text := "  " + strings.Join(parts, "  ")
	c.text(x, 0, cut(report.Printable(text), c.width-x), w.a.theme.plain)
}

// drawRows draws the entries that there is room for, below the names of their columns.
func (w *profileWindow) drawRows(c canvas) {
	hitsWidth := max(len("hits"), len(report.Hits(w.session.Root().Hits)))
	head := fmt.Sprintf("   cost  %*s", hitsWidth, "hits")
	if w.compares() {
		head = comparisonHead
	}
	head += w.columns.head()
	names := textWidth(head) + 2
	c.fill(0, 0, w.a.theme.bar)
	c.text(0, 0, head+"  call path", w.a.theme.bar)
	area := c.part(0, 1, c.width, c.height-1)
	w.list.follow = w.list.follow || area.height != w.list.area.height
	w.list.area = area
	w.scrollToSelected()
	shown := w.rows[w.list.top:min(len(w.rows), w.list.top+area.height)]
	w.columns.want(shown)
	w.labels.want(shown)
	w.list.names, w.list.shift = names, w.shift(area.width-names)
	for y, r := range shown {
		style := w.a.theme.plain
		if w.list.top+y == w.selected {
			style = w.a.theme.selected
			area.fill(0, y, style)
		}
		level := heatLevel(r.cost)
		line := fmt.Sprintf("%6s  %*s", report.Cost(r.cost), hitsWidth, report.Hits(r.entry.Hits))
		if w.compares() {
			line, level = w.both.text(r)
		}
		area.text(0, y, heatIcons[level], w.a.theme.heat[level])
		x := area.text(1, y, line, style)
		if w.list.top+y == w.selected {
			area.text(1, y, "›", style)
		}
		w.columns.draw(area.part(x, y, area.width-x, 1), r, style)
		w.drawName(area.part(names, y, area.width-names, 1), r, style)
	}
	w.drawMore(c)
}

// compares tells whether the window shows what entries cost in two views.
func (w *profileWindow) compares() bool { return w.subject.against != "" }

// drawMore says in the head how many rows there are above and below.
func (w *profileWindow) drawMore(c canvas) {
	above, below := w.list.top, len(w.rows)-w.list.top-w.list.area.height
	if above <= 0 && below <= 0 {
		return
	}
	text := fmt.Sprintf(" ▲%d ▼%d ", max(above, 0), max(below, 0))
	c.text(c.width-textWidth(text), 0, text, w.a.theme.bar)
}

// drawName draws an entry's label, indented by its depth.
func (w *profileWindow) drawName(c canvas, r row, style tcell.Style) {
	marker := " "
	below := w.session.Hidden(r.entry)
	switch {
	case w.session.Collapsed(r.entry):
		marker, below = "▸", 0
	case len(r.entry.Children) > 0:
		marker = "▾"
	}
	x := 2*r.depth - w.list.shift
	c.text(x, 0, marker, style)
	hidden := ""
	if below > 0 {
		hidden = fmt.Sprintf(" +%d", below)
	}
	x += 2
	if w.labels.has(r.entry) {
		x = c.text(x, 0, report.LabelMark, w.a.theme.key)
	}
	label := shorten(r.entry.Label(), max(12, c.width-x-len(hidden)))
	if style == w.a.theme.plain {
		style = w.nameStyle(r.entry)
	}
	x = c.text(x, 0, label, style)
	if hidden != "" {
		c.text(x, 0, hidden, w.a.theme.dim)
	}
}

// nameStyle tells typed time and classes from functions.
func (w *profileWindow) nameStyle(e *refine.Entry) tcell.Style {
	last, _ := e.Path.Last()
	switch calltree.KindOf(last.Name) {
	case calltree.Typed:
		if t, ok := views.ParseTypedTime(last.Name); ok {
			return w.a.theme.typed[t].Bold(true)
		}
		return w.a.theme.dim
	case calltree.Class, calltree.Root:
		return w.a.theme.bold
	}
	return w.a.theme.plain
}

// shift is how many columns names are moved to the left, so that the selected one can be read however deep it is.
func (w *profileWindow) shift(room int) int {
	e := w.entry()
	if e == nil {
		return 0
	}
	need := 2*w.rows[w.selected].depth + 2 + min(textWidth(e.Label()), max(room/2, 12))
	return max(0, need-room+w.list.pan)
}

// scrollToSelected brings the selected row into sight, where it has moved, and as many of those below it as were just found.
func (w *profileWindow) scrollToSelected() {
	l := &w.list
	if l.follow {
		l.follow = false
		bottom := w.selected + min(l.reveal, l.area.height-2)
		l.top = max(l.top, bottom-l.area.height+1)
		l.top = min(l.top, w.selected)
		l.reveal = 0
	}
	l.top = max(0, min(l.top, len(w.rows)-l.area.height))
}

// reveal brings what was found below an entry into sight.
func (w *profileWindow) reveal(below callpath.Path) {
	for i, r := range w.rows {
		if r.entry.Key() != below.String() {
			continue
		}
		n := 0
		for n+i+1 < len(w.rows) && w.rows[i+1+n].depth > r.depth {
			n++
		}
		w.list.reveal = n
		return
	}
}
