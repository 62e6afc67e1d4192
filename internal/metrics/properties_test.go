package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Sets of samples follow the laws of sets, and so do the
// expressions over them.
func TestSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(t, "samples")
		a, b := drawList(t, n), drawList(t, n)
		equal := func(what string, x, y List) {
			if !slices.Equal(x.Members(), y.Members()) {
				t.Errorf("%s: %v and %v", what, x.Members(), y.Members())
			}
		}
		joined := func(by func(x, y float64) float64, x, y List) List {
			return listOf(evaluate(pairwise(x.column().at, y.column().at, by), n))
		}
		equal("both", joined(and, a, b), a.And(b))
		equal("de Morgan", a.And(b).Not(), joined(or, a.Not(), b.Not()))
		equal("difference", joined(without, a, b), a.And(b.Not()))
		equal("complement", a.Not().Not(), a)
		equal("all", joined(or, a, a.Not()), All(n))
		if a.Len() != len(a.Members()) || joined(or, a, b).Len()+a.And(b).Len() != a.Len()+b.Len() {
			t.Errorf("%d and %d samples", a.Len(), b.Len())
		}
		spans := NewList(n)
		last := -1
		for _, s := range a.Spans() {
			if s[0] <= last || s[1] <= s[0] {
				t.Errorf("spans %v", a.Spans())
			}
			for i := s[0]; i < s[1]; i++ {
				spans.Add(i)
			}
			last = s[1]
		}
		equal("spans", spans, a)
	})
}

// A correlation does not depend on the order of the two, nor on
// their units.
func TestCorrelationIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "samples")
		x, y, l := drawColumn(t, n, "x"), drawColumn(t, n, "y"), drawList(t, n)
		scaled := make(Column, n)
		for i := range x {
			scaled[i] = 3*x[i] - 7
		}
		xy, yx, sy := Correlate(x, y, l), Correlate(y, x, l), Correlate(scaled, y, l)
		for _, other := range []Correlation{yx, sy} {
			if xy.N != other.N || !near(xy.Pearson, other.Pearson) || !near(xy.Spearman, other.Spearman) || !near(xy.P, other.P) ||
				!near(xy.Differences, other.Differences) || !slices.Equal(xy.Leverage, other.Leverage) {
				t.Errorf("%+v\n%+v", xy, other)
			}
		}
		if self := Correlate(x, x, l); Defined(self.Pearson) && !near(self.Pearson, 1) {
			t.Errorf("x with itself: %v", self.Pearson)
		}
		if Defined(xy.Pearson) && math.Abs(xy.Pearson) > 1 {
			t.Errorf("r = %v", xy.Pearson)
		}
	})
}

// If y follows x by some samples, the lag says so.
func TestLag(t *testing.T) {
	const n, by = 300, 4
	x, y := make(Column, n), make(Column, n)
	state := uint32(7)
	for i := range x {
		state = state*1664525 + 1013904223
		x[i] = float64(state >> 24)
	}
	for i := range y {
		if y[i] = 0; i >= by {
			y[i] = x[i-by]
		}
	}
	if c := Correlate(x, y, All(n)); c.Lag != by || c.LagPearson < 0.95 {
		t.Errorf("lag %d with r = %v", c.Lag, c.LagPearson)
	}
	if c := Correlate(y, x, All(n)); c.Lag != -by {
		t.Errorf("lag %d", c.Lag)
	}
	if c := Correlate(x, x, All(n)); c.Lag != 0 {
		t.Errorf("lag %d of a metric with itself", c.Lag)
	}
}

// Metrics that have nothing to do with one another seldom have a lag.
func TestNoLagByChance(t *testing.T) {
	const n, pairs = 100, 100
	r := rand.New(rand.NewPCG(5, 6))
	lags := 0
	for range pairs {
		x, y := make(Column, n), make(Column, n)
		for i := range x {
			x[i], y[i] = r.NormFloat64(), r.NormFloat64()
		}
		if Correlate(x, y, All(n)).Lag != 0 {
			lags++
		}
	}
	if lags > pairs/10 {
		t.Errorf("%d of %d pairs", lags, pairs)
	}
}

// Two metrics that both only grow correlate, but their
// differences don't, and they amount to few independent samples.
func TestTrend(t *testing.T) {
	const n = 400
	x, y := make(Column, n), make(Column, n)
	state := uint32(3)
	next := func() float64 { state = state*1664525 + 1013904223; return float64(state >> 24) }
	for i := 1; i < n; i++ {
		x[i], y[i] = x[i-1]+next(), y[i-1]+next()
	}
	c := Correlate(x, y, All(n))
	if c.Pearson < 0.99 || math.Abs(c.Differences) > 0.2 || c.Effective > 20 {
		t.Errorf("r = %v, of the differences %v; %v independent samples", c.Pearson, c.Differences, c.Effective)
	}
}

// FuzzExpression reads any text as a metric and as a list. What
// can be read has a value for each sample.
func FuzzExpression(f *testing.F) {
	for _, s := range []string{
		"rate(main.srv.stats[0].hits) / delta(heap.allocated)", "hits(* ..main.slow) > 0 && !gc.running", `gc.phase == "mark"`,
		"slow & !late | (time > 0.3)", "lag(max(time, 1), 2) - min(1e9, -2)", "span(1s, 2s) || samples(0-3, 5)", "hits(\"a(b\" ..c)",
		"((((", "ä ? b : c", "[1, 2]", "{a: 1}", "let x = 1; x", "label(route=/slow) + lock(main.mu)", "1 < 2 < 3", "time ?? 1", "a?.b",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		table := table(t)
		m, err := table.Metric(s)
		switch {
		case err != nil && strings.TrimSpace(err.Error()) == "":
			t.Error("an error without a message")
		case err == nil && len(m.Column) != 10:
			t.Errorf("%d values", len(m.Column))
		case err == nil && m.Truth:
			for _, x := range m.Column {
				if Defined(x) && x != 0 && x != 1 {
					t.Errorf("a predicate is %v", x)
				}
			}
		}
		if l, err := table.List(s); err == nil && l.Len() > 10 {
			t.Errorf("%d samples", l.Len())
		}
	})
}
