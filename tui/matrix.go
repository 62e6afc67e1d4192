package tui

import (
	"fmt"
	"math"
	"strconv"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/report/plots"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/tui/session"
)

// A matrixWindow draws each of several metrics against each:
// dots below the diagonal, and r above it.
type matrixWindow struct {
	exprs   []string
	metrics []*metrics.Metric // nil until they are computed
	pairs   [][]*plots.Pair   // by row and column; nil on the diagonal
	content

	frame // the selected pair
	pane  pane
}

// matrixKind is the kind of this window; every window can open it.
func (a *app) matrixKind() kind {
	return kind{
		Kind: session.MatrixKind,
		reopen: func(w session.Window) {
			if err := openMatrix(a, w.(*session.Matrix).Metrics); err != nil {
				a.fail(err)
			}
		},
		commands: []command{newCommand("matrix METRIC, METRIC...",
			"draw metrics against one another, with their correlations",
			func(args string) error { return openMatrix(a, metrics.Split(args)) },
			a.completeMetrics)},
	}
}

func openMatrix(a *app, exprs []string) error {
	if err := (&session.Matrix{Metrics: exprs}).Check(); err != nil {
		return err
	}
	w := &matrixWindow{exprs: exprs}
	w.limit(len(exprs), len(exprs))
	w.moveTo(1, 0)
	w.open(a, w, w.compute)
	return nil
}

func (w *matrixWindow) title() string        { return fmt.Sprintf("Matrix %s …", w.exprs[0]) }
func (w *matrixWindow) keep() session.Window { return &session.Matrix{Metrics: w.exprs} }

func (w *matrixWindow) compute() {
	m, samples, span, exprs := w.a.measured(), w.a.counts.list, w.a.options.Span, w.exprs
	type result struct {
		metrics []*metrics.Metric
		pairs   [][]*plots.Pair
	}
	compute(&w.content, "Correlating", func() (r result, err error) {
		t := m.lock()
		defer m.mu.Unlock()
		if r.metrics, err = t.AllNumbers(exprs...); err != nil {
			return r, err
		}
		within, err := t.Within(span, samples)
		if err == nil {
			r.pairs = pairsOf(r.metrics, within)
		}
		return r, err
	}, func(r result) { w.metrics, w.pairs = r.metrics, r.pairs })
}

// pairsOf returns the pairs of metrics: at row y and column x, y
// is drawn against x.
func pairsOf(metrics []*metrics.Metric, l metrics.List) [][]*plots.Pair {
	pairs := make([][]*plots.Pair, len(metrics))
	for y := range metrics {
		pairs[y] = make([]*plots.Pair, len(metrics))
		for x := range metrics {
			if x < y {
				pairs[y][x] = plots.NewPair(metrics[x], metrics[y], l)
				pairs[x][y] = pairs[y][x]
			}
		}
	}
	return pairs
}

func (w *matrixWindow) bindings() []binding {
	own := []binding{
		on("Enter", "Open", "the scatter plot of the selected pair", w.openSelected),
		on("l Right", "", "the metric to the right", w.by(1, 0)),
		on("h Left", "", "the metric to the left", w.by(-1, 0)),
		on("j Down", "", "the metric below", w.by(0, 1)),
		on("k Up", "", "the metric above", w.by(0, -1)),
		on("a", "All", "count all samples again", w.a.countAllSamples),
	}
	return append(own, w.pane.bindings("More")...)
}

// pair returns the selected pair; nil on the diagonal, and until
// it is computed.
func (w *matrixWindow) pair() *plots.Pair {
	if w.pairs == nil {
		return nil
	}
	return w.pairs[w.row][w.column]
}

func (w *matrixWindow) openSelected() {
	if w.pair() == nil {
		w.a.say("This is the metric by itself: the other cells are pairs.")
		return
	}
	x, y := min(w.row, w.column), max(w.row, w.column)
	openScatter(w.a, w.exprs[x], w.exprs[y])
}

// minPane is the number of lines below the matrix, about the
// selected pair.
const minPane = 5

// draw draws the matrix, and all about the selected pair.
func (w *matrixWindow) draw(c canvas) {
	w.place, w.pane.area = canvas{}, canvas{}
	if !w.drawReady(c, "Correlating …") {
		return
	}
	n := len(w.exprs)
	pane := min(max(minPane, c.height/4), c.height/2)
	w.place = c.part(0, 1, c.width, c.height-1-pane)
	width, height := w.place.width/n, max(1, w.place.height/n)
	c.line(0, "Correlations: dots below the diagonal, r above it", w.a.theme.bold)
	for row := range n {
		for column := range n {
			w.drawCell(w.place.part(column*width, row*height, width-1, height), row, column)
		}
	}
	w.drawPane(c.part(0, c.height-pane, c.width, pane))
}

// drawCell draws the name of a metric on the diagonal, the dots
// of a pair below the diagonal, or the r of a pair above it.
func (w *matrixWindow) drawCell(c canvas, row, column int) {
	style := w.a.theme.plain
	if row == w.row && column == w.column {
		style = w.a.theme.selected
	}
	c.clear(style)
	pair := w.pairs[row][column]
	switch {
	case row == column:
		name := strconv.Itoa(row+1) + " " + w.exprs[row]
		for y, line := range wrap(name, max(1, c.width)) {
			c.text(0, y, line, style.Bold(true))
		}
	case row > column && c.height > 1 && c.width > 1:
		dots := plots.NewDots(pair, c.width, c.height)
		for y := range dots.Rows {
			c.text(0, y, dots.Line(y), style)
		}
	case row > column:
		c.text(0, 0, termtext.Cut(report.Coefficient(pair.Spearman), c.width), style)
	default:
		text := report.Coefficient(pair.Pearson)
		strong := math.Abs(pair.Pearson) >= worthSeeing
		c.text(max(0, (c.width-textWidth(text))/2), c.height/2, text,
			style.Bold(strong).Dim(!strong && style == w.a.theme.plain))
	}
}

// worthSeeing is the r from which it is highlighted.
const worthSeeing = 0.5

// drawPane draws all about the selected pair.
func (w *matrixWindow) drawPane(c canvas) {
	x, y := min(w.row, w.column), max(w.row, w.column)
	pair := w.pair()
	subject := w.exprs[y]
	lines := styled(c.width-2, w.a.theme.dim, "a metric by itself")
	if pair != nil {
		subject += " with " + w.exprs[x]
		lines = append(styled(c.width-2, w.a.theme.plain, pair.Title()), styled(c.width-2,
			w.a.theme.dim, pair.Caveats(w.metrics[x], w.metrics[y], "sample")...)...)
	}
	w.pane.draw(c, w.a.theme, printable(subject), subject, lines)
}

// mouse selects and opens pairs, and scrolls.
func (w *matrixWindow) mouse(action mouseAction, x, y int) {
	column, row, inside := w.place.has(x, y)
	if w.pane.mouse(action, x, y) || !inside {
		return
	}
	if action == mouseClick || action == mouseDoubleClick {
		n := len(w.exprs)
		w.a.act(w, func() {
			w.moveTo(column/max(1, w.place.width/n), row/max(1, w.place.height/n))
			if action == mouseDoubleClick {
				w.openSelected()
			}
		})
	}
}
