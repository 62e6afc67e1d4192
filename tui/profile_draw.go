package tui

import (
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/gdamore/tcell/v2"
)

// draw draws the window: its title, the rows, the detail pane,
// and the threshold.
func (w *profileWindow) draw(c canvas) {
	meanwhile := "Building the " + w.subject.name + " …"
	if !w.drawReady(c, meanwhile) {
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
	w.slider.draw(c.part(0, c.height-1, c.width, 1))
}

// wideEnough is the width from which the detail pane is beside
// the entries and not below them.
const wideEnough = 120

// divide returns the parts of the entries and of the detail pane.
func divide(c canvas) (list, pane canvas) {
	if c.width >= wideEnough {
		left := c.width * 11 / 20
		return c.part(0, 0, left, c.height), c.part(left+1, 0, c.width-left-1, c.height)
	}
	top := c.height - max(c.height*9/20, 4)
	return c.part(0, 0, c.width, top), c.part(0, top, c.width, c.height-top)
}

// drawTitle draws what the costs are fractions of, and which
// part of the recording counts.
func (w *profileWindow) drawTitle(c canvas) {
	m := w.session.Tree().Main()
	x := c.text(1, 0, shorten(w.subject.name, max(20, c.width/2)), w.a.theme.title)
	parts := []string{report.Whole(m) + " = 1.000"}
	if w.compares() {
		parts[0] = "old: " + w.subject.against + "  new: " + w.a.path
	}
	if idle := w.IdleShare(); idle.Sign() > 0 {
		percent := report.Decimal(idle.Mul(idle, hits(100)), 1)
		parts = append(parts, "without "+percent+" % idle (I)")
	}
	o := w.a.options
	if o.Accounting != 0 {
		parts = append(parts, o.Accounting.String())
	}
	if o.CreatedBy {
		parts = append(parts, ":created-by")
	}
	if o.Span != zeroSpan {
		parts = append(parts, "only "+spanText(o.Span))
	}
	for _, s := range w.session.Steps() {
		if s.Kind == refine.KindPrune {
			parts = append(parts, "pruned to "+s.Text)
		}
	}
	if path := report.ZoomedTo(w.session); path != "" {
		parts[0] += ", the stacks of " + path
	}
	if f := w.session.Display().Filter; f != "" {
		parts = append(parts, fmt.Sprintf("filter %q (f, Esc clears it)", f))
	}
	if w.entries.shared() {
		parts = append(parts, "&: some stacks also count for another entry beside it")
	}
	if text := w.attribution().brief; text != "" {
		parts = append(parts, text)
	}
	for _, warning := range w.Warnings {
		parts = append(parts, "! "+warning.Message)
	}
	text := "  " + strings.Join(parts, "  ")
	c.text(x, 0, termtext.Cut(printable(text), c.width-x), w.a.theme.plain)
}

// drawRows draws the entries that fit, below the names of their columns.
func (w *profileWindow) drawRows(c canvas) {
	columns := w.columnsShown()
	head := " "
	for _, column := range columns {
		head += column.head(w)
	}
	names := textWidth(head) + 2
	c.fill(0, w.a.theme.bar)
	c.text(0, 0, head+"  call path", w.a.theme.bar)
	first, last := w.entries.inSight(c.part(0, 1, c.width, c.height-1))
	for _, column := range columns {
		if column.want != nil {
			column.want(w, w.entries.rows[first:last])
		}
	}
	w.entries.layoutNames(names, c.width-names)
	w.entries.draw(first, last, w.a.theme, func(c canvas, i int, style tcell.Style) {
		w.drawRow(c, i, style, columns)
	})
	w.entries.drawMore(c, w.a.theme)
}

func (w *profileWindow) drawRow(c canvas, i int, style tcell.Style, columns []profileColumn) {
	r := w.entries.rows[i]
	level := report.HeatLevel(r.cost)
	if w.compares() {
		level = w.both.heat(r)
	}
	c.text(0, 0, heatIcons[level], w.a.theme.heat[level])
	x := 1
	for _, column := range columns {
		x += column.draw(w, c.part(x, 0, c.width-x, 1), r, style)
	}
	w.drawName(c.part(w.entries.names, 0, c.width-w.entries.names, 1), r, style)
}

// compares reports whether the window shows the costs of two views.
func (w *profileWindow) compares() bool { return w.subject.against != "" }

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
	x := 2*r.depth - w.entries.shift
	c.text(x, 0, marker, style)
	hidden := ""
	if below > 0 {
		hidden = fmt.Sprintf(" +%d", below)
	}
	x += 2
	if w.labels.has(r.entry) {
		x = c.text(x, 0, report.LabelMark, w.a.theme.key)
	}
	x = c.text(x, 0, report.SharedMark(r.entry), w.a.theme.key)
	label := shorten(r.entry.Label(), max(12, c.width-x-len(hidden)))
	if style == w.a.theme.plain {
		style = w.nameStyle(r.entry)
	}
	x = c.text(x, 0, label, style)
	if hidden != "" {
		c.text(x, 0, hidden, w.a.theme.dim)
	}
}

// nameStyle returns a special style for typed time, and another for classes.
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

// A monitorText says how much of a tree is time waiting for
// locks, and for which part of that time the holders are known.
// It has the text in full, and a short one for a title; "" if
// there is no such time. It is kept for the last tree.
type monitorText struct {
	of          *calltree.Tree
	text, brief string
}

// attribution returns the monitorText of a window's view, if
// that is a Thread View.
func (w *profileWindow) attribution() monitorText {
	if !w.subject.single {
		return monitorText{}
	}
	if t := w.session.Tree(); w.monitor.of != t {
		w.monitor = monitorText{of: t, text: report.Monitor(t)}
		if waited, attributed := views.LockTime(t); waited.Hits.Sign() > 0 {
			w.monitor.brief = "MONITOR " + report.Attributed(waited.Weight,
				attributed.Weight) + " known"
		}
	}
	return w.monitor
}
