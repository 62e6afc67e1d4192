package session

import (
	"fmt"
	"io"
	"slices"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/report/plots"
)

// ScatterKind is the kind of windows that draw one metric against another.
var ScatterKind = Kind{Name: "scatter", New: func() Window { return new(Scatter) }}

// MatrixKind is the kind of windows that draw each of several
// metrics against each.
var MatrixKind = Kind{Name: "matrix", New: func() Window { return new(Matrix) }}

// Scatter is a window that draws one metric against another.
type Scatter struct {
	X string `json:"x"`
	Y string `json:"y"`
}

func (*Scatter) Kind() Kind { return ScatterKind }

func (s *Scatter) Check() error { return checkMetrics(s.X, s.Y) }

// Matrix is a window that draws each of several metrics against each.
type Matrix struct {
	Metrics []string `json:"metrics"`
}

// MaxMetrics is how many metrics a matrix may have.
const MaxMetrics = 20

func (*Matrix) Kind() Kind { return MatrixKind }

func (m *Matrix) Check() error {
	if n := len(m.Metrics); n < 2 || n > MaxMetrics {
		return fmt.Errorf("a matrix of %d metrics: want 2 to %d", n, MaxMetrics)
	}
	return checkMetrics(m.Metrics...)
}

func checkMetrics(exprs ...string) error {
	if slices.Contains(exprs, "") {
		return fmt.Errorf("a picture of metrics: one of %q is missing", exprs)
	}
	return checkExprs(exprs)
}

// measured returns the table of the whole recording, and its
// samples that count.
func (s *Source) measured() (t *metrics.Table, l metrics.List, over string, err error) {
	t = metrics.New(s.whole(), metrics.OptionsOf(s.Config, s.Options))
	list := ""
	if p := s.Recording.Picked; p != nil {
		list = p.List
	}
	l, err = t.Within(s.Options.Span, list)
	if over = report.Counted(t.Samples(), "sample"); list != "" {
		over = fmt.Sprintf("%d of %s (%s)", l.Len(), over, list)
	}
	return t, l, over, err
}

// Report returns the report that 'cpprof monitors plot --scatter' writes.
func (s *Scatter) Report(src *Source) (report.Report, error) {
	t, l, over, err := src.measured()
	if err != nil {
		return nil, err
	}
	metrics, err := t.AllNumbers(s.X, s.Y)
	if err != nil {
		return nil, err
	}
	pair := plots.NewPair(metrics[0], metrics[1], l)
	return &scatterReport{pair: pair, width: src.Width, Correlated: &report.Correlated{
		X: metrics[0], Y: metrics[1], Over: over, Points: "sample", Correlation: pair.Correlation,
		Basis: report.BasisOf(src.Recording),
	}}, nil
}

type scatterReport struct {
	*report.Correlated
	pair  *plots.Pair
	width int
}

func (r *scatterReport) Write(w io.Writer) { plots.PrintScatter(w, r.pair, r.width) }

// Report returns the report that 'cpprof monitors plot --scatter' writes.
func (m *Matrix) Report(src *Source) (report.Report, error) {
	t, l, over, err := src.measured()
	if err != nil {
		return nil, err
	}
	selected, err := t.AllNumbers(m.Metrics...)
	if err != nil {
		return nil, err
	}
	r := report.NewMatrix(selected, metrics.OverSamples(l))
	r.Over, r.Basis = over, report.BasisOf(src.Recording)
	return r, nil
}
