package tui

import (
	"fmt"
	"math"
	"time"

	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

const (
	timelineBars = 2 // lines outside of the graph: the legend above, the axis below
	maxGraph     = 8 // lines of the graph
)

// An amount is the mean number of goroutines by typed time in one column.
type amount [views.NumTypedTimes]float64

func (m amount) total() (sum float64) {
	for _, x := range m {
		sum += x
	}
	return sum
}

// amounts returns the amounts of the columns for a width. The
// state in a sample lasts until the next sample.
func (t *timeline) amounts(width int) []amount {
	n := len(t.buckets)
	width = min(width, n)
	list := make([]amount, width)
	for i := range list {
		var length float64
		for j := i * n / width; j < (i+1)*n/width; j++ {
			b := &t.buckets[j]
			if b.Samples == 0 {
				continue
			}
			length += float64(b.Length)
			for typed, time := range b.Parts {
				x, _ := time.Float64()
				list[i][typed] += x
			}
		}
		switch {
		case length > 0:
			for typed := range list[i] {
				list[i][typed] /= length
			}
		case i > 0:
			list[i] = list[i-1]
		}
	}
	return list
}

// mostlyWaiting is the share of waiting goroutines from which
// they are left out, because they would hide everything else.
const mostlyWaiting = 0.9

// shows reports whether waiting goroutines are shown.
func (t *timeline) shows(amounts []amount) bool {
	if t.waiting != nil {
		return *t.waiting
	}
	var all, waiting float64
	for _, m := range amounts {
		all, waiting = all+m.total(), waiting+m[views.Wait]
	}
	return waiting <= mostlyWaiting*all
}

func (t *timeline) toggleWaiting() {
	show := !t.shows(t.amounts(t.place.width))
	t.waiting = &show
}

// draw draws legend, graph and axis.
func (t *timeline) draw(c canvas) {
	t.place = c.part(1, 1, c.width-2, c.height-timelineBars)
	if t.err != nil { // a profile has no times
		c.text(1, 0, t.err.Error(), t.a.theme.err)
		return
	}
	slices, amounts := t.slices(t.place.width), t.amounts(t.place.width)
	show := t.shows(amounts)
	if !show {
		for i := range amounts {
			amounts[i][views.Wait] = 0
		}
	}
	var most float64
	for _, m := range amounts {
		most = max(most, m.total())
	}
	t.drawLegend(c.part(0, 0, c.width, 1), slices, most, show)
	if len(slices) == 0 {
		t.place.text(0, 0, "…", t.a.theme.dim)
		return
	}
	in, some := t.counts(slices)
	for x, m := range amounts {
		t.drawColumn(t.place.part(x, 0, 1, t.place.height), m, most, !in[x])
	}
	t.drawAxis(c.part(1, c.height-1, c.width-2, 1), slices, in, some)
}

// marked returns the columns that are being selected, or that
// count, and reports whether there are any.
func (t *timeline) marked(slices []slice) (first, last int, some bool) {
	span := t.a.options.Span
	switch {
	case t.begun:
		first, last = t.chosen(slices)
		return first, last, true
	case span == (views.Span{}):
		return 0, len(slices) - 1, false
	case span.To == 0:
		return columnOf(slices, span.From), len(slices) - 1, true
	}
	return columnOf(slices, span.From), columnOf(slices, span.To-1), true
}

// drawLegend draws the colours or letters of typed times, and
// what is counted.
func (t *timeline) drawLegend(c canvas, slices []slice, most float64, waiting bool) {
	x := 1
	for typed := range views.NumTypedTimes {
		text, style := t.a.theme.typedCell(typed)
		x = c.text(x, 0, text, style)
		x = c.text(x+1, 0, typed.Name(), t.a.theme.plain) + 1
	}
	text, style := t.caption(slices, most, waiting)
	c.text(max(x+1, c.width-1-textWidth(text)), 0, text, style)
}

// caption returns the text beside the legend.
func (t *timeline) caption(slices []slice, most float64, waiting bool) (string, tcell.Style) {
	if len(slices) == 0 {
		return "", t.a.theme.plain
	}
	end := slices[len(slices)-1].to
	brief := func(d time.Duration) string { return d.Round(precision(end - slices[0].from)).String() }
	span := t.a.options.Span
	switch {
	case t.active:
		first, last := t.chosen(slices)
		return brief(slices[first].from) + " to " + brief(slices[last].to), t.a.theme.title
	case span.To != 0:
		return fmt.Sprintf("only %s to %s counts", brief(span.From), brief(span.To)),
			t.a.theme.title
	case span.From != 0:
		return fmt.Sprintf("only from %s on counts", brief(span.From)), t.a.theme.title
	}
	time, what := brief(end), "goroutines"
	if !waiting {
		what = "not waiting"
	}
	if t.zoom != (views.Span{}) {
		time = brief(slices[0].from) + " to " + time
	}
	return fmt.Sprintf("%s, up to %.1f %s", time, most, what), t.a.theme.plain
}

// precision returns the unit that shows a time with three or four digits.
func precision(d time.Duration) time.Duration {
	p := time.Nanosecond
	for d/p >= 10_000 {
		p *= 10
	}
	return p
}

// eighths are the fill levels of a cell, from the bottom up.
var eighths = []string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}

// drawColumn stacks one column's typed times; the height of the
// whole graph is most.
func (t *timeline) drawColumn(c canvas, m amount, most float64, faint bool) {
	if most == 0 {
		return
	}
	stack := make([]views.TypedTime, 0, 8*c.height) // typed times by eighths, from the bottom up
	var below float64
	for typed, x := range m {
		below += x
		for len(stack) < int(math.Round(below/most*float64(8*c.height))) {
			stack = append(stack, views.TypedTime(typed))
		}
	}
	for y := c.height - 1; y >= 0 && len(stack) > 0; y-- {
		n := min(8, len(stack))
		text, style := t.a.theme.stackCell(stack[:n])
		c.text(0, y, text, style.Dim(faint))
		stack = stack[n:]
	}
}

// stackCell returns the cell for typed times on top of one
// another, by eighths from the bottom up. The lowest has the
// text's colour, the largest of the others the background's.
// Without colours, the cell has the letter of the largest.
func (t *theme) stackCell(stack []views.TypedTime) (string, tcell.Style) {
	lowest := 0
	for lowest < len(stack) && stack[lowest] == stack[0] {
		lowest++
	}
	counts := cellCounts{empty: 8 - len(stack)}
	for _, typed := range stack {
		counts[typed]++
	}
	if !t.color {
		if most := counts.most(); most != empty {
			return most.Letter(), t.plain
		}
		return " ", t.plain
	}
	counts[stack[0]] = 0
	style := t.typed[stack[0]]
	if upper := counts.most(); lowest < 8 && upper != empty {
		color, _, _ := t.typed[upper].Decompose()
		style = style.Background(color)
	}
	return eighths[lowest], style
}

// cellCounts has the number of eighths of a cell for each typed
// time, and for empty.
type cellCounts [empty + 1]int

// empty comes after the typed times in cellCounts.
const empty = views.NumTypedTimes

// most returns the typed time with most eighths, the first of equals.
func (c *cellCounts) most() (t views.TypedTime) {
	for i, n := range c {
		if n > c[t] {
			t = views.TypedTime(i)
		}
	}
	return t
}

// drawAxis underlines the columns that count or are being
// selected, and points at the cursor.
func (t *timeline) drawAxis(c canvas, slices []slice, in []bool, some bool) {
	for x := range slices {
		text, style := "─", t.a.theme.dim
		if some && in[x] {
			text, style = "━", t.a.theme.title
		}
		if t.active && x == columnOf(slices, t.cursor) {
			text, style = "▲", t.a.theme.title
		}
		c.text(x, 0, text, style)
	}
}

// mouse selects a span while the mouse is dragged over the graph
// or its axis. It reports whether it handled the action.
func (t *timeline) mouse(action mouseAction, x, y int) bool {
	slices := t.slices(t.place.width)
	if len(slices) == 0 {
		return false
	}
	inside := y >= t.place.y && y <= t.place.y+t.place.height
	at := slices[min(max(0, x-t.place.x), len(slices)-1)].from
	switch {
	case action == mouseDown && inside:
		t.active, t.begun, t.dragged = true, true, true
		t.cursor, t.anchor = at, at
	case action == mouseDrag && t.dragged:
		t.cursor = at
	case action == mouseUp && t.dragged:
		t.dragged = false
		if t.cursor = at; t.cursor == t.anchor {
			t.begun = false // a click leaves the cursor there
		} else {
			t.a.act(t.a.window(), t.count)
		}
	default:
		return inside && (action == mouseClick || action == mouseDoubleClick)
	}
	return true
}
