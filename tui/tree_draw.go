package tui

import (
	"math/big"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
)

// draw draws the tree, and all about the selected call.
func (w *treeWindow) draw(c canvas) {
	w.pane.area = canvas{}
	if !w.list.drawReady(c, w.failed, w.found != nil, "Searching …") {
		return
	}
	first, last, pane := w.list.drawHead(c, w.a.theme, printable(w.view)+": "+w.counts())
	for i := first; i < last; i++ {
		w.drawRow(w.list.area.part(0, i-first, w.list.area.width, 1), i)
	}
	if r := w.row(); r != nil {
		w.pane.drawDetails(pane, w.a.theme, "Call path", r.key, w.details(r))
	}
}

// drawRow draws a call: the shape and the colour of its heat, and in the colour
// of typed time what is typed time.
func (w *treeWindow) drawRow(c canvas, line int) {
	r := &w.rows[line]
	style := w.a.theme.plain
	if r.colour != hotspots.Accepted && r.depth > 0 {
		style = w.a.theme.dim
	}
	if r.colour == hotspots.Frontier {
		style = w.a.theme.warning
	}
	if typed, ok := views.ParseTypedTime(r.name); ok && w.a.theme.color {
		style = w.a.theme.typed[typed]
	}
	if line == w.list.at {
		style = w.a.theme.selected
		c.fill(0, 0, style)
	}
	level := report.HeatLevel(new(big.Rat).SetFloat64(r.share.Share))
	c.text(0, 0, heatIcons[level], w.a.theme.heat[level])
	mark := " "
	if line == w.list.at {
		mark = "›"
	}
	c.text(1, 0, mark+termtext.Cut(w.label(r), c.width-2), style)
}
