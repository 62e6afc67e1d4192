package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/report/plots"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/tui/session"
)

// A scatterWindow draws one metric against another, a dot for each sample. A
// rectangle in it is a sample list.
type scatterWindow struct {
	a     *app
	x, y  string // metrics
	drawn drawnPair
	content

	column, row             int // of the cursor
	anchorColumn, anchorRow int // the corner where the user began a rectangle
	begun                   bool
	dragged                 bool // the mouse is selecting
	place                   canvas
	dots                    *plots.Dots // of all samples, as they were last drawn
}

// A drawnPair is two metrics over the samples in the span; and of these, over
// those that count.
type drawnPair struct {
	all, counted *plots.Pair // nil until they are computed
	x, y         *metrics.Metric
}

// scatterKind is the kind of this window; every window can open it.
func scatterKind() kind {
	return kind{
		Kind: session.ScatterKind,
		reopen: func(a *app, w session.Window) {
			s := w.(*session.Scatter)
			openScatter(a, s.X, s.Y)
		},
		commands: func(a *app) []command {
			return []command{newCommand("scatter METRIC, METRIC",
				"draw a metric against another; a rectangle there is a sample list",
				func(args string) error {
					list := metrics.Split(args)
					if len(list) != 2 {
						return fmt.Errorf(
							"want two metrics, such as: scatter cpu.used, goroutines.ready")
					}
					openScatter(a, list[0], list[1])
					return nil
				}, a.completeMetrics)}
		},
	}
}

func openScatter(a *app, x, y string) {
	w := &scatterWindow{a: a, x: x, y: y}
	a.open(w)
	w.compute()
}

func (w *scatterWindow) title() string        { return w.y + " ∝ " + w.x }
func (w *scatterWindow) commands() []command  { return nil }
func (w *scatterWindow) keep() session.Window { return &session.Scatter{X: w.x, Y: w.y} }

// refresh computes the metrics again, once for several changes in a row.
func (w *scatterWindow) refresh() { w.once(w.a, w, w.compute) }

func (w *scatterWindow) compute() {
	m, samples, span, x, y := w.a.measured(), w.a.counts.list, w.a.options.Span, w.x, w.y
	compute(&w.content, w.a, w, "Drawing", func() (d drawnPair, err error) {
		m.use(func(t *metrics.Table) {
			var selected []*metrics.Metric
			var within metrics.List
			if selected, err = t.AllNumbers(x, y); err != nil {
				return
			}
			if within, err = t.Within(span, ""); err != nil {
				return
			}
			d = drawnPair{x: selected[0], y: selected[1],
				all: plots.NewPair(selected[0], selected[1], within)}
			if d.counted = d.all; samples != "" {
				if within, err = t.Within(span, samples); err == nil {
					d.counted = plots.NewPair(selected[0], selected[1], within)
				}
			}
		})
		return d, err
	}, func(d drawnPair) { w.drawn, w.dots = d, nil })
}

func (w *scatterWindow) bindings() []binding {
	by := func(columns, rows int) func() { return func() { w.move(columns, rows) } }
	return []binding{
		on("Space", "Begin", "begin a rectangle here", func() {
			w.anchorColumn, w.anchorRow, w.begun = w.column, w.row, true
		}),
		on("Enter", "Count", "count only the samples in the rectangle, in every window", w.count),
		on("n", "Name", "name the samples in the rectangle as a sample list", w.name),
		on("a", "All", "count all samples again", w.a.countAllSamples),
		on("Esc", "", "drop the rectangle", func() { w.begun, w.dragged = false, false }),
		on("l Right", "", "to the right", by(1, 0)),
		on("h Left", "", "to the left", by(-1, 0)),
		on("j Down", "", "down", by(0, 1)),
		on("k Up", "", "up", by(0, -1)),
		on("PgDn Ctrl-F", "", "much further to the right", by(10, 0)),
		on("PgUp Ctrl-B", "", "much further to the left", by(-10, 0)),
		on("g Home", "", "the top left corner", by(-maxCells, -maxCells)),
		on("G End", "", "the bottom right corner", by(maxCells, maxCells)),
		on("f", "Flip", "flip the axes", w.flip),
	}
}

// maxCells is greater than the number of columns or rows of any screen.
const maxCells = 2048

func (w *scatterWindow) move(columns, rows int) {
	if w.dots != nil {
		w.column, w.row = min(max(w.column+columns, 0), w.dots.Columns-1),
			min(max(w.row+rows, 0), w.dots.Rows-1)
	}
}

func (w *scatterWindow) flip() {
	w.x, w.y, w.begun = w.y, w.x, false
	w.compute()
}

// A rectangle is a part of the dots, by the columns and rows of its corners,
// which belong to it.
type rectangle struct{ left, top, right, bottom int }

func (r rectangle) has(column, row int) bool {
	return column >= r.left && column <= r.right && row >= r.top && row <= r.bottom
}

// chosen returns the rectangle from the anchor to the cursor, or the cell of
// the cursor.
func (w *scatterWindow) chosen() rectangle {
	r := rectangle{w.column, w.row, w.column, w.row}
	if w.begun {
		r.left, r.right = min(r.left, w.anchorColumn), max(r.right, w.anchorColumn)
		r.top, r.bottom = min(r.top, w.anchorRow), max(r.bottom, w.anchorRow)
	}
	return r
}

// predicate returns an expression that is true for the samples in the chosen
// rectangle. It is false for all other samples in the span.
func (w *scatterWindow) predicate() (string, error) {
	if w.dots == nil {
		return "", errors.New("nothing is drawn")
	}
	r := w.chosen()
	x, y := bounds{metric: w.drawn.x}, bounds{metric: w.drawn.y}
	n := 0
	for _, at := range w.drawn.all.At {
		if r.has(w.dots.Place(at)) {
			x.include(at[0])
			y.include(at[1])
			n++
		}
	}
	if n == 0 {
		return "", errors.New("no sample is in the rectangle: Space begins one, and the keys of the cursor or the mouse draw it")
	}
	for _, at := range w.drawn.all.At {
		column, row := w.dots.Place(at)
		x.exclude(at[0], column < r.left, column > r.right)
		y.exclude(at[1], row > r.bottom, row < r.top)
	}
	conditions := append(x.conditions(), y.conditions()...)
	if len(conditions) == 0 {
		return "", errors.New("all samples are in the rectangle")
	}
	return strings.Join(conditions, " && "), nil
}

func (w *scatterWindow) count() {
	text, err := w.predicate()
	if err != nil {
		w.a.fail(err)
		return
	}
	w.begun = false
	w.a.countSamples(text, w.a.fail)
}

func (w *scatterWindow) name() {
	text, err := w.predicate()
	if err != nil {
		w.a.fail(err)
		return
	}
	w.a.askList(text)
}

// draw draws the correlation, the dots with their axes, and the caveats.
func (w *scatterWindow) draw(c canvas) {
	c.clear(w.a.theme.plain)
	w.place, w.dots = canvas{}, nil
	switch {
	case w.failed != nil:
		drawPlain(c, w.failed.Error(), w.a.theme.err)
		return
	case w.drawn.all == nil:
		c.text(1, 1, "Drawing …", w.a.theme.dim)
		return
	case len(w.drawn.all.At) == 0:
		drawPlain(c, fmt.Sprintf("No sample has values of both %s and %s.", w.x, w.y),
			w.a.theme.plain)
		return
	}
	c.text(1, 0, termtext.Cut(printable(w.y+" (up) with "+w.x+" (right)"), c.width-2),
		w.a.theme.bold)
	c.text(1, 1, termtext.Cut(printable(w.drawn.counted.Title()), c.width-2), w.a.theme.plain)
	caveats := w.caveats(c.width-2, max(0, (c.height-8)/3))
	w.drawDots(c.part(0, 2, c.width, c.height-2-len(caveats)-1))
	c.text(1, c.height-len(caveats)-1, termtext.Cut(printable(w.here()), c.width-2),
		w.a.theme.title)
	for i, line := range caveats {
		c.text(1, c.height-len(caveats)+i, line, w.a.theme.dim)
	}
}

// caveats returns what to think of before the correlation is trusted, in a
// limited number of lines.
func (w *scatterWindow) caveats(width, most int) []string {
	var lines []string
	for _, text := range w.drawn.counted.Caveats(w.drawn.x, w.drawn.y, "sample") {
		lines = append(lines, wrap(text, width)...)
	}
	return lines[:min(len(lines), most)]
}

// drawDots draws the axes, and the dots of the samples: those that don't count
// are faint, and those that lie far out are highlighted.
func (w *scatterWindow) drawDots(c canvas) {
	all := w.drawn.all
	theme := w.a.theme
	margin := 0
	labels := func(d *plots.Dots) (top, bottom string) {
		return report.InUnit(d.Y.High, all.UnitY), report.InUnit(d.Y.Low, all.UnitY)
	}
	top, bottom := labels(plots.NewDots(all, 1, 1))
	margin = min(max(textWidth(top), textWidth(bottom)), c.width/3)
	w.place = c.part(margin+2, 0, c.width-margin-3, c.height-2)
	if w.place.width < 2 || w.place.height < 2 {
		return
	}
	w.dots = plots.NewDots(all, w.place.width, w.place.height)
	w.column, w.row = min(max(w.column, 0), w.dots.Columns-1), min(max(w.row, 0), w.dots.Rows-1)
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
				style.Reverse(r.has(column, row)))
		}
	}
	c.text(margin-textWidth(top), 0, top, theme.plain)
	c.text(margin-textWidth(bottom), w.dots.Rows-1, bottom, theme.plain)
	c.text(margin+1, w.dots.Rows, "└"+strings.Repeat("─", w.dots.Columns), theme.dim)
	left, right := report.InUnit(w.dots.X.Low, all.UnitX), report.InUnit(w.dots.X.High, all.UnitX)
	c.text(margin+2, w.dots.Rows+1, left, theme.plain)
	c.text(c.width-1-textWidth(right), w.dots.Rows+1, right, theme.plain)
}

// marks returns the cells that have samples that count, and those with samples
// that lie far out.
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
	r, n := w.chosen(), 0
	x, y := bounds{}, bounds{}
	for _, at := range w.drawn.all.At {
		if r.has(w.dots.Place(at)) {
			x.include(at[0])
			y.include(at[1])
			n++
		}
	}
	what := "here"
	if w.begun {
		what = "in the rectangle"
	}
	if n == 0 {
		return "no sample " + what
	}
	return fmt.Sprintf("%s %s: x %s, y %s", report.Counted(n, "sample"), what,
		x.text(w.drawn.all.UnitX), y.text(w.drawn.all.UnitY))
}

// mouse draws a rectangle.
func (w *scatterWindow) mouse(action mouseAction, x, y int) {
	column, row, inside := w.place.has(x, y)
	switch {
	case action == mouseMove:
		w.dragged = false // released over another window
	case action == mouseDown && inside:
		w.column, w.row, w.anchorColumn, w.anchorRow = column, row, column, row
		w.begun, w.dragged = true, true
	case action == mouseDrag && w.dragged:
		w.column, w.row = column, row
	case action == mouseUp && w.dragged:
		w.dragged = false
		// a click leaves the cursor there
		w.begun = w.column != w.anchorColumn || w.row != w.anchorRow
	}
}
