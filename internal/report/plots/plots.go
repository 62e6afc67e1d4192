// Package plots draws metrics: strips over time, scatter plots
// and matrices of these, as files (file.go) and in a terminal
// (terminal.go).
package plots

import (
	"fmt"
	"math"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
)

// A Run is a metric over the samples of one recording.
type Run struct {
	Recording string
	Seconds   []float64 // of each sample, since the start
	Values    metrics.Column
	Stats     metrics.Stats
}

// A Strip is a metric over time, in one recording or several.
type Strip struct {
	Name string // of the metric
	Unit string
	Runs []Run
}

// NewRun returns a metric over the samples of a list.
func NewRun(recording string, t *metrics.Table, m *metrics.Metric, l metrics.List) Run {
	r := Run{Recording: recording, Values: m.Column.In(l), Stats: m.Stats(l),
		Seconds: make([]float64, t.Samples())}
	for i := range r.Seconds {
		r.Seconds[i] = t.Recording().Samples.Time(i).Seconds()
	}
	return r
}

// bounds returns the least and the greatest value of all runs,
// and the longest time. ok is false if no value is defined.
func (s *Strip) bounds() (low, high, end float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, r := range s.Runs {
		for i, x := range r.Values {
			end = max(end, r.Seconds[i])
			if metrics.Defined(x) && !math.IsInf(x, 0) {
				low, high = min(low, x), max(high, x)
			}
		}
	}
	return low, high, end, low <= high
}

// A point is a mean of values over a part of the time.
type point struct{ seconds, value float64 }

// segments returns the values as lines without gaps, with a
// limited number of points together. If there are more samples,
// a point is the mean of the defined values of several
// neighbours.
func (r *Run) segments(most int) [][]point {
	step := max(1, (len(r.Values)+most-1)/most)
	var lines [][]point
	joined := false
	for from := 0; from < len(r.Values); from += step {
		var at, sum float64
		n := 0
		for i := from; i < min(from+step, len(r.Values)); i++ {
			if x := r.Values[i]; metrics.Defined(x) && !math.IsInf(x, 0) {
				at, sum, n = at+r.Seconds[i], sum+x, n+1
			}
		}
		if n == 0 {
			joined = false
			continue
		}
		if !joined {
			lines = append(lines, nil)
		}
		joined = true
		last := len(lines) - 1
		lines[last] = append(lines[last], point{at / float64(n), sum / float64(n)})
	}
	return lines
}

// statistics returns the lines that stand beside a strip.
func (r *Run) statistics(unit string) []string {
	s := &r.Stats
	lines := []string{fmt.Sprintf("n %d", s.N)}
	for _, of := range []struct {
		name  string
		value float64
	}{{"min", s.Min}, {"median", s.Median}, {"mean", s.Mean}, {"max", s.Max}, {"dev", s.Deviance},
		{"on the whole", s.Ratio}} {
		if metrics.Defined(of.value) {
			lines = append(lines, of.name+" "+report.InUnit(of.value, unit))
		}
	}
	return lines
}

// A Pair is two metrics over the same samples.
type Pair struct {
	X, Y         string // names
	UnitX, UnitY string
	At           [][2]float64
	Samples      []int // by point: its sample
	metrics.Correlation
}

// NewPair returns two metrics over a list.
func NewPair(x, y *metrics.Metric, l metrics.List) *Pair {
	p := &Pair{X: x.Expr, Y: y.Expr, UnitX: x.Unit.String(), UnitY: y.Unit.String(),
		Correlation: metrics.Correlate(x.Column, y.Column, l)}
	for i := range x.Column {
		a, b := x.Column[i], y.Column[i]
		if l.Has(i) && metrics.Defined(a-b) { // infinities have no place in a plot
			p.At, p.Samples = append(p.At, [2]float64{a, b}), append(p.Samples, i)
		}
	}
	return p
}

// Title says what the pair's correlation is.
func (p *Pair) Title() string {
	text := fmt.Sprintf("n %d, r %s, rho %s", p.N, report.Coefficient(p.Pearson),
		report.Coefficient(p.Spearman))
	if len(p.Leverage) > 0 {
		text += fmt.Sprintf(", r %s without %d far out", report.Coefficient(p.Without),
			len(p.Leverage))
	}
	return text
}
