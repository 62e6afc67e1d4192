package tui

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// Lanes show metrics below the timeline while its keys are
// active: a line with the name and statistics, and a line with
// the values, in the columns of the graph.
const (
	laneLines = 2
	minTable  = 6 // lines that remain for the table of classes
)

// lanes are the metrics below a timeline.
type lanes struct {
	t      *timeline
	chosen []string // nil: the usual ones
	usual  []string
	at     int // the selected lane
	first  int // the first one in sight
	area   canvas

	made map[string]*lane // by metric: those that were computed last
	key  laneKey          // what these depend on
	busy bool
	next time.Time // earliest time of new ones while the recording grows
}

// A laneKey is what the lanes on the screen depend on.
type laneKey struct {
	by         *measured
	exprs      string // of those in sight
	width      int
	shown      views.Span // the time from the left to the right end
	statistics views.Span
	samples    string
}

// A lane is a metric that was computed.
type lane struct {
	*metrics.Metric
	err   error
	cells []metrics.Cell // by column
	stats metrics.Stats  // of the selected span
}

// exprs returns the metrics of all lanes.
func (l *lanes) exprs() []string {
	if l.chosen != nil {
		return l.chosen
	}
	return l.usual
}

// room returns how many of the lines below the graph are for lanes.
func (l *lanes) room(height int) int {
	if !l.t.active {
		return 0
	}
	return laneLines * min(max(1, len(l.exprs())), max(0, height-minTable)/laneLines)
}

func (l *lanes) bindings() []binding {
	return []binding{
		on("j Down", "", "the next lane", func() { l.at++ }),
		on("k Up", "", "the previous lane", func() { l.at-- }),
		on("J", "", "move the lane down", func() { l.shift(1) }),
		on("K", "", "move the lane up", func() { l.shift(-1) }),
		on("+", "Lane", "add a lane: a monitor, or a metric such as rate(x) / y", l.ask),
		on("-", "", "remove the lane", l.remove),
		on("v", "Versus", "draw another metric against the lane's, as a scatter plot", l.versus),
		on("m", "", "draw all lanes against one another, as a matrix", l.matrix),
	}
}

// command returns the command that chooses lanes.
func (l *lanes) command() command {
	return newCommand("lanes METRIC, METRIC... | usual", "the metrics below the timeline (key t)",
		func(args string) error {
			switch args {
			case "":
				return errors.New("want metrics, such as cpu.used, rate(heap.allocated_bytes); or usual")
			case "usual":
				l.chosen = nil
			default:
				l.chosen = metrics.Split(args)
			}
			l.at, l.t.active = 0, true
			return nil
		}, l.t.a.completeMetrics)
}

// change replaces the lanes. One lane is selected.
func (l *lanes) change(exprs []string, at int) { l.chosen, l.at = exprs, at }

// selected returns the metric of the selected lane; false if
// there is no lane.
func (l *lanes) selected() (string, bool) {
	if len(l.exprs()) == 0 {
		l.t.a.say("There are no lanes: + adds one.")
		return "", false
	}
	l.at = min(max(l.at, 0), len(l.exprs())-1)
	return l.exprs()[l.at], true
}

func (l *lanes) shift(by int) {
	if _, ok := l.selected(); !ok || l.at+by < 0 || l.at+by >= len(l.exprs()) {
		return
	}
	list := slices.Clone(l.exprs())
	list[l.at], list[l.at+by] = list[l.at+by], list[l.at]
	l.change(list, l.at+by)
}

func (l *lanes) remove() {
	if _, ok := l.selected(); ok {
		l.change(slices.Delete(slices.Clone(l.exprs()), l.at, l.at+1), l.at)
	}
}

// ask asks for the metric of another lane, below the selected one.
func (l *lanes) ask() {
	l.askMetric("lane: ", func(metric string) {
		at := min(l.at+1, len(l.exprs()))
		l.change(slices.Insert(slices.Clone(l.exprs()), at, metric), at)
	})
}

// askMetric asks for a metric, and does something with it.
func (l *lanes) askMetric(label string, do func(metric string)) {
	l.t.a.ask(label, "", l.t.a.completeMetrics, func(text string) error {
		if text != "" {
			do(text)
		}
		return nil
	})
}

// versus asks for a metric, and draws it against the selected lane's.
func (l *lanes) versus() {
	if x, ok := l.selected(); ok {
		l.askMetric("against "+x+": ", func(y string) { openScatter(l.t.a, x, y) })
	}
}

func (l *lanes) matrix() {
	if err := openMatrix(l.t.a, l.exprs()); err != nil {
		l.t.a.fail(err)
	}
}

// wanted returns what the lanes in sight depend on.
func (l *lanes) wanted(slices []slice, first, last int) laneKey {
	a := l.t.a
	k := laneKey{by: a.measured(), width: len(slices), samples: a.counts.list,
		exprs: strings.Join(l.exprs()[first:last], "\x00")}
	if len(slices) > 0 {
		k.shown = views.Span{From: slices[0].from, To: slices[len(slices)-1].to}
		k.statistics = k.shown
		if first, last, some := l.t.marked(slices); some {
			k.statistics = views.Span{From: slices[first].from, To: slices[last].to}
		}
		if k.statistics.To == slices[len(slices)-1].to && l.t.zoom.To == 0 {
			k.statistics.To = 0 // with the last sample
		}
	}
	return k
}

// compute computes the lanes in sight if they have changed, on
// another goroutine. While the recording grows, it pauses
// between updates.
func (l *lanes) compute(columns []slice, first, last int) {
	k, began := l.wanted(columns, first, last), time.Now()
	if l.busy || k == l.key || len(columns) == 0 || l.t.a.live.growing() && k.by != l.key.by &&
		l.made != nil && began.Before(l.next) {
		return
	}
	bounds := []time.Duration{columns[0].from}
	for _, s := range columns {
		bounds = append(bounds, s.to)
	}
	exprs := slices.Clone(l.exprs()[first:last])
	isUsual := l.chosen == nil
	l.busy = true
	var usual []string
	background(l.t.a, func() map[string]*lane {
		made := make(map[string]*lane)
		t := k.by.lock()
		defer k.by.mu.Unlock()
		if isUsual {
			usual = t.Usual()
		}
		for _, e := range exprs {
			made[e] = newLane(t, e, bounds, k)
		}
		return made
	}, func(made map[string]*lane) {
		l.busy, l.made, l.key = false, made, k
		if isUsual {
			l.usual = usual
		}
		l.next = time.Now().Add(restFactor * time.Since(began))
	})
}

// newLane computes a lane. A counter's lane is its rate.
func newLane(t *metrics.Table, expr string, bounds []time.Duration, k laneKey) *lane {
	m, err := t.Metric(expr)
	if err == nil && m.Counts {
		m, err = t.Metric("rate(" + expr + ")")
	}
	if err != nil {
		return &lane{err: err}
	}
	within, err := t.Within(k.statistics, k.samples)
	if err != nil {
		return &lane{err: err}
	}
	return &lane{Metric: m, cells: t.Lane(m, bounds), stats: m.Stats(within)}
}

// draw draws as many lanes as fit.
func (l *lanes) draw(c canvas) {
	l.area = c
	shown := c.height / laneLines
	if shown == 0 {
		return
	}
	all := l.exprs()
	l.at = max(0, min(l.at, len(all)-1))
	l.first = max(0, min(max(l.first, l.at-shown+1), l.at, len(all)-shown))
	last := min(len(all), l.first+shown)
	slices := l.t.slices(l.t.place.width)
	l.compute(slices, l.first, last)
	if len(all) == 0 {
		c.text(1, 0, "no lanes: + adds one", l.t.a.theme.dim)
		return
	}
	for i, e := range all[l.first:last] {
		note := ""
		if i == 0 && last-l.first < len(all) {
			note = fmt.Sprintf("%d to %d of %d: j k", l.first+1, last, len(all))
		}
		l.drawLane(c.part(0, laneLines*i, c.width, laneLines), e, slices, l.first+i == l.at, note)
	}
}

// drawLane draws one lane, with a note at the right end of its title.
func (l *lanes) drawLane(c canvas, expr string, slices []slice, selected bool, note string) {
	theme := l.t.a.theme
	style, mark := theme.plain, " "
	if selected {
		style, mark = theme.bold, "›"
	}
	right := c.width - 1 - textWidth(note)
	c.text(right, 0, note, theme.dim)
	c.text(0, 0, mark, style)
	title := c.part(1, 0, right-2, 1)
	lane := l.made[expr]
	switch {
	case lane == nil:
		title.text(0, 0, expr+" …", theme.dim)
		return
	case lane.err != nil:
		text, _, _ := strings.Cut(lane.err.Error(), "\n")
		title.text(0, 0, termtext.Cut(printable(expr+": "+text), title.width), theme.err)
		return
	}
	low, high := lane.extent()
	here := metrics.Cell{}
	if at := columnOf(slices, l.t.cursor); at >= 0 && at < len(lane.cells) {
		here = lane.cells[at]
	}
	l.drawTitle(title, lane, lane.says(low, high, here), style)
	in, some := l.t.counts(slices)
	for x, cell := range lane.cells[:min(len(lane.cells), len(slices))] {
		c.text(1+x, 1, lane.cell(cell, low, high), theme.plain.Dim(some && !in[x]))
	}
}

// drawTitle draws the title of a lane. If there is room, it
// draws the statistics of the selected span to the right.
func (l *lanes) drawTitle(c canvas, lane *lane, says string, style tcell.Style) {
	name := termtext.Shorten(printable(lane.Expr), max(12, c.width*2/5))
	x := c.text(0, 0, name, style)
	c.part(x, 0, c.width-x, 1).text(0, 0, ": "+says, l.t.a.theme.plain)
	x += 2 + textWidth(says)
	for _, stats := range lane.statistics() {
		if from := c.width - textWidth(stats); from >= x+2 {
			c.text(from, 0, stats, l.t.a.theme.dim)
			return
		}
	}
}

// extent returns the lowest and highest value to draw. For a
// rate, a share or a count it begins at 0.
func (l *lane) extent() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, cell := range l.cells {
		if cell.Time > 0 {
			low, high = min(low, cell.Mean), max(high, cell.Mean)
		}
	}
	if l.Over != nil || strings.HasPrefix(l.Expr, "rate(") {
		low = min(low, 0)
	}
	return low, high
}

func (l *lane) quantity(x float64) string { return report.InUnit(x, l.Unit.String()) }

// says returns what the values are, and the one at the cursor.
func (l *lane) says(low, high float64, here metrics.Cell) string {
	at := "undefined here"
	switch {
	case l.Words != nil:
		if here.Time > 0 {
			at = l.Words[here.Word] + " here"
		}
		return strings.Join(l.Words, ", ") + "; " + at
	case low > high:
		return "no values to draw"
	case here.Time > 0:
		at = l.quantity(here.Mean) + " here"
	}
	return l.quantity(low) + " to " + l.quantity(high) + "; " + at
}

// statistics returns the statistics of the selected span, longer and shorter.
func (l *lane) statistics() []string {
	s := &l.stats
	if l.Words != nil || s.N == 0 {
		return []string{fmt.Sprintf("n %d", s.N)}
	}
	mean := "mean " + l.quantity(s.Mean)
	whole := ""
	if metrics.Defined(s.Ratio) {
		whole = ", on the whole " + l.quantity(s.Ratio)
	}
	all := fmt.Sprintf("n %d, min %s, median %s, %s, max %s", s.N, l.quantity(s.Min),
		l.quantity(s.Median), mean, l.quantity(s.Max))
	deviation := all
	if metrics.Defined(s.Deviance) {
		deviation += ", dev " + l.quantity(s.Deviance)
	}
	return []string{deviation + whole, deviation, all,
		fmt.Sprintf("n %d, %s, max %s", s.N, mean, l.quantity(s.Max)),
		fmt.Sprintf("n %d, %s", s.N, mean), mean}
}

// cell returns the character for a column of a lane: the height
// of its value between the lowest and the highest, or the first
// letter of a word; a blank if it is undefined.
func (l *lane) cell(cell metrics.Cell, low, high float64) string {
	if cell.Time == 0 {
		return " "
	}
	if l.Words != nil {
		for _, first := range l.Words[cell.Word] {
			return string(first)
		}
		return " "
	}
	// the difference of two large numbers may be infinite
	share := (cell.Mean/2 - low/2) / (high/2 - low/2)
	if !(share > 0) {
		return eighths[1]
	}
	return eighths[1+int(math.Round(min(share, 1)*7))]
}

// mouse selects the lane that is clicked.
func (l *lanes) mouse(action mouseAction, x, y int) bool {
	_, row, inside := l.area.has(x, y)
	if !inside || action != mouseClick && action != mouseDoubleClick {
		return false
	}
	l.at = l.first + row/laneLines
	return true
}
