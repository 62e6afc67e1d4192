package metrics

import (
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/vectors"
	"github.com/cpprof/cpprof/sampledata"
)

func TestVectorsVertical(t *testing.T) {
	for _, file := range vectors.Files(t, "vertical*.json") {
		var v vertical
		vectors.Decode(t, file, &v)
		for i := range v.Cases {
			t.Run(v.Cases[i].Name, func(t *testing.T) { checkCase(t, &v.Cases[i]) })
		}
	}
}

// tableOf makes the table of a case.
func tableOf(t *testing.T, c *verticalCase) *Table {
	b := sampledata.NewBuilder(sampledata.Header{})
	kinds := map[string]sampledata.Kind{"counter": sampledata.Counter, "level": sampledata.Level, "nominal": sampledata.Nominal}
	ids := map[string]sampledata.MonitorID{}
	for name, s := range c.Series {
		kind, ok := kinds[s.Kind]
		if !ok {
			t.Fatalf("series %s of kind %q", name, s.Kind)
		}
		ids[name] = b.Monitor(sampledata.Monitor{Name: name, Kind: kind, Real: kind != sampledata.Nominal})
	}
	for i, at := range c.Times {
		for name, s := range c.Series {
			v := sampledata.Value{}
			switch x := s.Values[i]; {
			case x != nil && s.Kind == "nominal":
				v = sampledata.Word(strconv.FormatFloat(*x, 'g', -1, 64))
			case x != nil:
				v = sampledata.Real(*x)
			}
			b.Measure(ids[name], v)
		}
		fixture.Check(t, b.Sample(sampledata.Sample{Time: time.Duration(at)}, nil))
	}
	var o Options
	for _, m := range c.Metrics {
		o.Metrics = append(o.Metrics, Definition{Name: m.Name, Expr: m.Expr})
	}
	for _, l := range c.Lists {
		o.Lists = append(o.Lists, Definition{Name: l.Name, Expr: l.Expr})
	}
	return New(b.Recording(), o)
}

func checkCase(t *testing.T, c *verticalCase) {
	table := tableOf(t, c)
	metric := func(name string) *Metric {
		return fixture.Must(table.Metric(name))(t)
	}
	list := func(expr string) List {
		return fixture.Must(table.List(expr))(t)
	}
	for _, m := range c.Metrics {
		got := metric(m.Name).Column
		for i, want := range m.Values {
			same(t, m.Name+" = "+m.Expr+" at "+strconv.Itoa(i), got[i], want)
		}
	}
	for _, l := range slices.Concat(c.Lists, c.Sets) {
		if got := list(l.Expr).Members(); !slices.Equal(got, l.Members) {
			t.Errorf("%s: %v, want %v", l.Expr, got, l.Members)
		}
	}
	for _, s := range c.Stats {
		got := metric(s.Metric).Stats(list(s.List))
		what := s.Metric + " over " + s.List
		if got.N != s.N {
			t.Errorf("%s: n = %d, want %d", what, got.N, s.N)
		}
		same(t, what+": min", got.Min, s.Min)
		same(t, what+": max", got.Max, s.Max)
		same(t, what+": sum", got.Sum, s.Sum)
		same(t, what+": mean", got.Mean, s.Mean)
		same(t, what+": median", got.Median, s.Median)
		same(t, what+": standard deviation", got.Deviance, s.Stddev)
	}
	for _, r := range c.Ratios {
		got := metric(r.Metric).Stats(list(r.List))
		if got.RatioN != r.N {
			t.Errorf("%s over %s: ratio of %d, want %d", r.Metric, r.List, got.RatioN, r.N)
		}
		same(t, r.Metric+" over "+r.List+": ratio", got.Ratio, r.Ratio)
	}
	for _, r := range c.Correlations {
		got := Correlate(metric(r.X).Column, metric(r.Y).Column, list(r.List))
		what := r.X + " with " + r.Y + " over " + r.List
		if got.N != r.N || !slices.Equal(got.Leverage, r.Leverage) {
			t.Errorf("%s: n = %d, leverage %v, want %d, %v", what, got.N, got.Leverage, r.N, r.Leverage)
		}
		same(t, what+": Pearson", got.Pearson, r.Pearson)
		same(t, what+": Spearman", got.Spearman, r.Spearman)
		same(t, what+": without leverage points", got.Without, r.Without)
	}
}

// same compares a number with the wanted one, nil if it is
// undefined. Sums may be rounded in another order.
func same(t *testing.T, what string, got float64, want *float64) {
	t.Helper()
	switch {
	case want == nil:
		if Defined(got) {
			t.Errorf("%s: %v, want undefined", what, got)
		}
	case !(math.Abs(got-*want) <= 1e-9*max(1, math.Abs(*want))):
		t.Errorf("%s: %v, want %v", what, got, *want)
	}
}
