package tui

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/report/plots"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/cpprof/cpprof/views/calls"
)

// A scatterWindow draws one metric against another, a dot for
// each sample. A rectangle in it is a sample list.
type scatterWindow struct {
	x, y  string // metrics
	drawn drawnPair
	content

	frame
	dots *plots.Dots // of all samples, as they were last drawn
}

// A drawnPair is two metrics over the samples in the span; and
// of these, over those that count.
type drawnPair struct {
	all, counted *plots.Pair // nil until they are computed
	x, y         *metrics.Metric
}

// scatterKind is the kind of this window; every window can open it.
func (a *app) scatterKind() kind {
	return kind{
		Kind: session.ScatterKind,
		reopen: func(w session.Window) {
			s := w.(*session.Scatter)
			openScatter(a, s.X, s.Y)
		},
		commands: []command{newCommand("scatter METRIC, METRIC",
			"draw a metric against another; a rectangle there is a sample list",
			func(args string) error {
				list := metrics.Split(args)
				if len(list) != 2 {
					return fmt.Errorf("want two metrics, such as: scatter cpu.used, goroutines.ready")
				}
				openScatter(a, list[0], list[1])
				return nil
			}, a.completeMetrics)},
	}
}

func openScatter(a *app, x, y string) {
	w := &scatterWindow{x: x, y: y}
	w.open(a, w, w.compute)
}

func (w *scatterWindow) title() string        { return w.y + " ∝ " + w.x }
func (w *scatterWindow) keep() session.Window { return &session.Scatter{X: w.x, Y: w.y} }

func (w *scatterWindow) compute() {
	m, samples, span, x, y := w.a.measured(), w.a.counts.list, w.a.options.Span, w.x, w.y
	compute(&w.content, "Drawing", func() (d drawnPair, err error) {
		t := m.lock()
		defer m.mu.Unlock()
		selected, err := t.AllNumbers(x, y)
		if err != nil {
			return d, err
		}
		d.x, d.y = selected[0], selected[1]
		within, err := t.Within(span, "")
		if err != nil {
			return d, err
		}
		d.all = plots.NewPair(d.x, d.y, within)
		if d.counted = d.all; samples != "" {
			if within, err = t.Within(span, samples); err == nil {
				d.counted = plots.NewPair(d.x, d.y, within)
			}
		}
		return d, err
	}, func(d drawnPair) { w.drawn, w.dots = d, nil })
}

func (w *scatterWindow) bindings() []binding {
	return append(w.frame.bindings(1), []binding{
		on("Enter", "Count", "count only the samples in the rectangle, in every window", w.count),
		on("n", "Name", "name the samples in the rectangle as a sample list", w.name),
		on("a", "All", "count all samples again", w.a.countAllSamples),
		on("f", "Flip", "flip the axes", w.flip),
	}...)
}

func (w *scatterWindow) flip() {
	w.x, w.y, w.begun = w.y, w.x, false
	w.compute()
}

// predicate returns an expression that is true for the samples
// in the chosen rectangle. It is false for all other samples in
// the span.
func (w *scatterWindow) predicate() (string, error) {
	if w.dots == nil {
		return "", errors.New("nothing is drawn")
	}
	r := w.chosen()
	x, y, n := w.inside(r)
	if n == 0 {
		return "", errors.New("no sample is in the rectangle: Space begins one, and the keys of the cursor or the mouse draw it")
	}
	for _, at := range w.drawn.all.At {
		column, row := w.dots.Place(at)
		x.exclude(at[0], column < r.Left, column > r.Right)
		y.exclude(at[1], row > r.Top, row < r.Bottom)
	}
	conditions := append(x.conditions(), y.conditions()...)
	if len(conditions) == 0 {
		return "", errors.New("all samples are in the rectangle")
	}
	return strings.Join(conditions, " && "), nil
}

// inside returns the bounds and the number of the samples in a rectangle.
func (w *scatterWindow) inside(r calls.Area) (x, y bounds, n int) {
	x, y = bounds{metric: w.drawn.x}, bounds{metric: w.drawn.y}
	for _, at := range w.drawn.all.At {
		if r.Has(w.dots.Place(at)) {
			x.include(at[0])
			y.include(at[1])
			n++
		}
	}
	return x, y, n
}

func (w *scatterWindow) count() {
	w.withPredicate(func(text string) {
		w.begun = false
		w.a.count(counted{list: text}, w.a.fail)
	})
}

func (w *scatterWindow) name() { w.withPredicate(w.a.askList) }

// withPredicate does something with the predicate of the rectangle's samples.
func (w *scatterWindow) withPredicate(do func(text string)) {
	text, err := w.predicate()
	if err != nil {
		w.a.fail(err)
		return
	}
	do(text)
}

// draw draws the correlation, the dots with their axes, and the caveats.
func (w *scatterWindow) draw(c canvas) {
	w.place, w.dots, w.columns = canvas{}, nil, 0
	if !w.drawReady(c, "Drawing …") {
		return
	}
	if len(w.drawn.all.At) == 0 {
		text := fmt.Sprintf("No sample has values of both %s and %s.", w.x, w.y)
		c.lines(1, wrap(text, c.width-2), w.a.theme.plain)
		return
	}
	c.line(0, w.y+" (up) with "+w.x+" (right)", w.a.theme.bold)
	c.line(1, w.drawn.counted.Title(), w.a.theme.plain)
	caveats := w.caveats(c.width-2, max(0, (c.height-8)/3))
	w.drawDots(c.part(0, 2, c.width, c.height-2-len(caveats)-1))
	c.line(c.height-len(caveats)-1, w.here(), w.a.theme.title)
	c.lines(c.height-len(caveats), caveats, w.a.theme.dim)
}

// caveats returns what to think of before the correlation is
// trusted, in a limited number of lines.
func (w *scatterWindow) caveats(width, most int) []string {
	var lines []string
	for _, text := range w.drawn.counted.Caveats(w.drawn.x, w.drawn.y, "sample") {
		lines = append(lines, wrap(text, width)...)
	}
	return lines[:min(len(lines), most)]
}

// drawDots draws the axes, and the dots of the samples: those
// that don't count are faint, and those that lie far out are
// highlighted.
func (w *scatterWindow) drawDots(c canvas) {
	all := w.drawn.all
	theme := w.a.theme
	y := plots.NewDots(all, 1, 1).Y
	top, bottom := report.InUnit(y.High, all.UnitY), report.InUnit(y.Low, all.UnitY)
	margin := min(max(textWidth(top), textWidth(bottom)), c.width/3)
	w.place = c.part(margin+2, 0, c.width-margin-3, c.height-2)
	if w.place.width < 2 || w.place.height < 2 {
		return
	}
	w.dots = plots.NewDots(all, w.place.width, w.place.height)
	w.limit(w.dots.Columns, w.dots.Rows)
	counted, far := w.marks()
	r := w.chosen()
	for row := range w.dots.Rows {
		c.text(margin+1, row, "│", theme.dim)
		for column := range w.dots.Columns {
			style := theme.plain.Dim(!counted[[2]int{column, row}])
			if far[[2]int{column, row}] {
				style = theme.warning
			}
			w.place.text(column, row, string(w.dots.Cell(column, row)),
				style.Reverse(r.Has(column, row)))
		}
	}
	c.text(margin-textWidth(top), 0, top, theme.plain)
	c.text(margin-textWidth(bottom), w.dots.Rows-1, bottom, theme.plain)
	c.text(margin+1, w.dots.Rows, "└"+strings.Repeat("─", w.dots.Columns), theme.dim)
	left, right := report.InUnit(w.dots.X.Low, all.UnitX), report.InUnit(w.dots.X.High, all.UnitX)
	c.text(margin+2, w.dots.Rows+1, left, theme.plain)
	c.text(c.width-1-textWidth(right), w.dots.Rows+1, right, theme.plain)
}

// marks returns the cells that have samples that count, and
// those with samples that lie far out.
func (w *scatterWindow) marks() (counted, far map[[2]int]bool) {
	counted, far = make(map[[2]int]bool), make(map[[2]int]bool)
	for i, at := range w.drawn.counted.At {
		column, row := w.dots.Place(at)
		counted[[2]int{column, row}] = true
		if _, out := slices.BinarySearch(w.drawn.counted.Leverage,
			w.drawn.counted.Samples[i]); out {
			far[[2]int{column, row}] = true
		}
	}
	return counted, far
}

// here says what is at the cursor, or in the rectangle.
func (w *scatterWindow) here() string {
	if w.dots == nil {
		return ""
	}
	x, y, n := w.inside(w.chosen())
	if n == 0 {
		return "no sample " + w.where()
	}
	return fmt.Sprintf("%s %s: x %s, y %s", report.Counted(n, "sample"), w.where(),
		x.text(w.drawn.all.UnitX), y.text(w.drawn.all.UnitY))
}

// mouse draws a rectangle.
func (w *scatterWindow) mouse(action mouseAction, x, y int) {
	column, row, inside := w.place.has(x, y)
	w.frame.mouse(action, column, row, inside)
}

// bounds are the values of a metric at some samples, and the
// nearest ones at others.
type bounds struct {
	metric       *metrics.Metric
	low, high    float64 // of the samples
	below, above float64 // the nearest ones of others that are excluded
	some         bool    // there are samples
	under, over  bool    // others are below, or above
}

// include takes a sample's value.
func (b *bounds) include(x float64) {
	if !b.some {
		b.low, b.high, b.some = x, x, true
	}
	b.low, b.high = min(b.low, x), max(b.high, x)
}

// exclude takes the value of another sample, which lies below or
// above, or neither.
func (b *bounds) exclude(x float64, isBelow, isAbove bool) {
	if isBelow && (!b.under || x > b.below) {
		b.below, b.under = x, true
	}
	if isAbove && (!b.over || x < b.above) {
		b.above, b.over = x, true
	}
}

// conditions returns expressions that hold for the samples only, with numbers
// of few digits.
func (b *bounds) conditions() (list []string) {
	name := b.metric.Expr
	if b.metric.Truth {
		switch {
		case b.low == 1 && b.under:
			return []string{"(" + name + ")"}
		case b.high == 0 && b.over:
			return []string{"!(" + name + ")"}
		}
		return nil
	}
	if b.under {
		list = append(list, name+" >= "+shortest(b.low, b.below))
	}
	if b.over {
		list = append(list, name+" <= "+shortest(b.high, b.above))
	}
	if list == nil && b.metric.Column.Count() < len(b.metric.Column) { // others may be undefined
		list = append(list, name+" >= "+strconv.FormatFloat(b.low, 'g', -1, 64))
	}
	return list
}

// shortest returns the number with the fewest digits from x to,
// but not including, the limit.
func shortest(x, limit float64) string {
	for digits := 1; digits < 17; digits++ {
		for _, candidate := range []float64{x, x/2 + limit/2} {
			text := strconv.FormatFloat(candidate, 'g', digits, 64)
			if y, err := strconv.ParseFloat(text, 64); err == nil && min(x, limit) <= y &&
				y <= max(x, limit) && y != limit {
				return text
			}
		}
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// text returns the range of the samples.
func (b *bounds) text(unit string) string {
	if b.low == b.high {
		return report.InUnit(b.low, unit)
	}
	return report.InUnit(b.low, unit) + " to " + report.InUnit(b.high, unit)
}
