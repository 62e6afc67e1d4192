package tui

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
	"github.com/gdamore/tcell/v2"
)

// A callsWindow is a heat map of a function's calls: when they
// began, and how long they took. A line of the screen has two
// rows of the map. The time inside the calls of a rectangle can
// be all that counts in every window.
type callsWindow struct {
	function string // "" for the first proposed one
	found    session.FoundCalls
	content

	frame                // rows count from the bottom
	span  views.Span     // that is shown; the zero Span is all
	heat  *calls.HeatMap // as it was last drawn
	of    drawnHeat
}

// drawnHeat is what a heat map depends on.
type drawnHeat struct {
	table         *calls.Table
	columns, rows int
	calls         string
	span          views.Span
}

// callsKind is the kind of this window; every window can open it.
func (a *app) callsKind() kind {
	return kind{
		Kind: session.CallsKind,
		reopen: func(w session.Window) {
			c := w.(*session.Calls)
			openCalls(a, c.Function, views.Span{From: c.From, To: c.To})
		},
		commands: []command{newCommand("calls [FUNCTION]",
			"draw how long the calls of a function took; a rectangle there is the time that counts",
			func(function string) error { openCalls(a, function, views.Span{}); return nil }, nil)},
	}
}

func openCalls(a *app, function string, span views.Span) {
	w := &callsWindow{function: function, span: span}
	w.open(a, w, w.compute)
}

func (w *callsWindow) title() string { return "Calls " + shorten(w.function, maxBadge) }

func (w *callsWindow) keep() session.Window {
	return &session.Calls{Function: w.function, From: w.span.From, To: w.span.To}
}

func (w *callsWindow) compute() {
	r, o, function, only := w.a.whole, w.a.options, w.function, w.a.counts.calls
	o.Span = views.Span{}
	compute(&w.content, "Finding calls", func() (session.FoundCalls, error) {
		return session.FindCalls(r, o, function, only)
	}, func(f session.FoundCalls) {
		w.found = f
		if f.Table != nil {
			w.function = f.Table.Function
		}
	})
}

func (w *callsWindow) bindings() []binding {
	return append(w.frame.bindings(-1), []binding{
		on("Enter", "Count", "count only the time inside the calls of the rectangle, in every window", w.count),
		on("a", "All", "count all time again", w.a.countAllSamples),
		on("s", "Slowest", "go to the slowest call", func() { w.moved = false }),
		on("+ =", "Zoom in", "half of the time, around the cursor", func() { w.zoom(1, 2) }),
		on("-", "out", "twice the time", func() { w.zoom(2, 1) }),
		on("0", "", "all time", func() { w.span, w.moved, w.begun = views.Span{}, false, false }),
	}...)
}

// zoom shows num/den of the time, around the cursor, which stays there.
func (w *callsWindow) zoom(num, den time.Duration) {
	if w.heat == nil {
		return
	}
	at := w.heat.Start + time.Duration(w.column)*w.heat.Step + w.heat.Step/2
	w.span, w.begun, w.moved = w.heat.Zoomed(w.column, num, den), false, true
	w.heat = w.heatMap(w.place.width, 2*w.place.height)
	w.column = min(max(int((at-w.heat.Start)/w.heat.Step), 0), w.heat.Columns-1)
}

func (w *callsWindow) count() {
	if w.heat == nil || w.callsIn(w.chosen()) == 0 {
		w.a.fail(errors.New("no call is in the rectangle: Space begins one, and the keys of the cursor or the mouse draw it"))
		return
	}
	condition := w.function + " " + w.heat.Condition(w.chosen())
	w.begun = false
	w.a.count(counted{calls: condition}, w.a.fail)
}

func (w *callsWindow) callsIn(a calls.Area) (n int) {
	for _, c := range w.heat.Cells {
		if a.Has(c.Column, c.Row) {
			n += c.Calls
		}
	}
	return n
}

// draw draws the heat map with its axes, and what the slow calls
// have more of.
func (w *callsWindow) draw(c canvas) {
	theme := w.a.theme
	w.place = canvas{}
	if w.failed != nil {
		w.heat, w.columns = nil, 0
	}
	if !w.drawReady(c, "Finding calls …") {
		return
	}
	c.line(0, w.heading(), theme.bold)
	reasons := w.reasons(c.width-2, max(1, (c.height-8)/3))
	w.drawMap(c.part(0, 1, c.width, c.height-2-len(reasons)))
	c.line(c.height-len(reasons)-1, w.here(), theme.title)
	c.lines(c.height-len(reasons), reasons, theme.plain)
}

// heading says how long the calls took.
func (w *callsWindow) heading() string {
	t := w.found.Table
	text := fmt.Sprintf("%s: %s", w.function, report.Counted(len(t.Calls), "call"))
	for _, q := range []struct {
		name  string
		share float64
	}{{"p50", 0.5}, {"p99", 0.99}, {"longest", 1}} {
		if t.TellsTimes() {
			text += "  " + q.name + " " + report.RangeText(t.Between(q.share))
		}
	}
	return text
}

// reasons says what the slow calls have more of, in a limited
// number of lines.
func (w *callsWindow) reasons(width, most int) (lines []string) {
	f := &w.found
	text := fmt.Sprintf("Slow: %s, %s.", report.Counted(f.Contrast.Slow.Calls, "call"), f.Slow)
	switch {
	case f.Contrast.TooFew():
		text += " These, or the others, are too few to say what they have more of."
	case len(f.Contrast.More) == 0:
		text += " There is nothing that they certainly have more of:"
		for typed := range views.NumTypedTimes {
			if share := f.Contrast.Slow.Parts[typed].Share; share >= 0.005 {
				text += fmt.Sprintf(" %s %.0f %%", typed.Name(), 100*share)
			}
		}
	}
	lines = wrap(text, width)
	for i := range f.Contrast.More {
		m := &f.Contrast.More[i]
		lines = append(lines, wrap(printable(fmt.Sprintf("%.0f %% of their time, of the others' %.0f %%: %s",
			100*m.Slow.Share, 100*m.Rest.Share, report.FeatureText(m))), width)...)
	}
	return lines[:min(len(lines), most)]
}

// drawMap draws the axes and the cells.
func (w *callsWindow) drawMap(c canvas) {
	const margin = 9 // columns of a length
	theme := w.a.theme
	w.place = c.part(margin+1, 0, c.width-margin-2, c.height-1)
	if w.place.width < 2 || w.place.height < 2 {
		return
	}
	w.heat = w.heatMap(w.place.width, 2*w.place.height)
	rows := len(w.heat.Edges) - 1
	if !w.moved {
		w.toSlowest()
	}
	w.limit(w.heat.Columns, rows)
	cells, greatest := make(map[[2]int]calls.Cell), 1
	for _, cell := range w.heat.Cells {
		cells[[2]int{cell.Column, cell.Row}] = cell
		greatest = max(greatest, cell.Calls)
	}
	lines := (rows + 1) / 2
	for line := range min(lines, w.place.height) {
		low := 2 * (lines - 1 - line)
		if line%3 == 0 {
			w.drawLength(c, margin, line, low)
		}
		c.text(margin, line, "│", theme.dim)
		for column := range w.heat.Columns {
			w.drawCells(column, line, low, cells, greatest)
		}
	}
	at := min(lines, w.place.height)
	end := w.heat.Start + time.Duration(w.heat.Columns)*w.heat.Step
	left, right := fmt.Sprintf("%.2f s", w.heat.Start.Seconds()), fmt.Sprintf("%.2f s", end.Seconds())
	c.text(margin+1, at, left, theme.dim)
	c.text(max(margin+1+w.heat.Columns-textWidth(right), margin+3+textWidth(left)), at, right, theme.dim)
}

// drawLength writes the length at which a row of the map begins.
func (w *callsWindow) drawLength(c canvas, margin, line, row int) {
	text := w.heat.Edges[min(row, len(w.heat.Edges)-1)].String()
	if w.heat.Untimed && row == 0 {
		text = "short"
	}
	c.text(max(0, margin-textWidth(text)), line, text, w.a.theme.dim)
}

// heatMap returns the map for some columns and rows. It keeps
// the last one.
func (w *callsWindow) heatMap(columns, rows int) *calls.HeatMap {
	of := drawnHeat{w.found.Table, columns, rows, w.a.counts.calls, w.span}
	if w.of != of || w.heat == nil {
		var c calls.Condition
		if function, only, err := calls.Parse(of.calls); err == nil && function == w.function {
			c = only
		}
		w.heat, w.of = w.found.Table.HeatMap(columns, rows, c, w.span), of
	}
	return w.heat
}

// toSlowest moves the cursor to the slowest call.
func (w *callsWindow) toSlowest() {
	if len(w.heat.Cells) == 0 {
		return
	}
	top := slices.MaxFunc(w.heat.Cells, func(a, b calls.Cell) int { return cmp.Compare(a.Row, b.Row) })
	w.column, w.row = top.Column, top.Row
}

// cellStyle returns the colour of a cell that has calls: warmer
// for more calls, and faint for calls that don't count.
func (w *callsWindow) cellStyle(c calls.Cell, greatest int) tcell.Style {
	if c.Chosen == 0 {
		return w.a.theme.dim
	}
	const levels = report.HeatLevels - 1
	warmth := math.Log(float64(c.Calls)+1) / math.Log(float64(greatest)+1)
	return w.a.theme.heat[min(max(levels-int(levels*warmth), 0), levels)]
}

// drawCells draws a cell of the map, and the one above it, as half blocks.
func (w *callsWindow) drawCells(column, line, low int, cells map[[2]int]calls.Cell, greatest int) {
	lower, upper := cells[[2]int{column, low}], cells[[2]int{column, low + 1}]
	area, theme := w.chosen(), w.a.theme
	_, back, attributes := theme.selected.Decompose()
	chosen := area.Has(column, low) || area.Has(column, low+1)
	shown, block := lower, "▄"
	switch {
	case lower.Calls == 0 && upper.Calls == 0:
		if chosen {
			w.place.text(column, line, " ", theme.selected)
		}
		return
	case lower.Calls > 0 && upper.Calls > 0 && theme.color:
		front, _, _ := w.cellStyle(lower, greatest).Decompose()
		w.place.text(column, line, "▀", w.cellStyle(upper, greatest).Background(front))
		return
	case lower.Calls > 0 && upper.Calls > 0:
		block = "█"
	case upper.Calls > 0:
		shown, block = upper, "▀"
	}
	style := w.cellStyle(shown, greatest)
	if chosen {
		style = style.Background(back).Attributes(attributes)
	}
	w.place.text(column, line, block, style)
}

// here says what is at the cursor, or in the rectangle.
func (w *callsWindow) here() string {
	if w.heat == nil {
		return ""
	}
	a := w.chosen()
	return fmt.Sprintf("%s %s: %s", report.Counted(w.callsIn(a), "call"), w.where(),
		w.heat.Condition(a))
}

// mouse draws a rectangle.
func (w *callsWindow) mouse(action mouseAction, x, y int) {
	column, line, inside := w.place.has(x, y)
	row := max(2*((w.rows+1)/2-1-line), 0)
	if action == mouseDrag && row >= w.anchorRow { // a line has two rows: both count
		row++
	}
	w.frame.mouse(action, column, row, inside)
}
