package report

import (
	"math/big"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views/calltree"
)

func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		num, den int64
		places   int32
		want     string
	}{
		{1, 3, 3, "0.333"},
		{2, 3, 3, "0.667"},
		{49, 100000, 3, "0.000"}, // rounded once
		{1, 2000, 3, "0.001"},
		{-1, 2000, 3, "-0.001"},
		{7, 1, 1, "7.0"},
		{0, 1, 3, "0.000"},
	} {
		if got := Decimal(big.NewRat(c.num, c.den), c.places); got != c.want {
			t.Errorf("%d/%d with %d places: %s, want %s", c.num, c.den, c.places, got, c.want)
		}
	}
	if got := Hits(big.NewRat(5, 2)); got != "2.5" {
		t.Errorf("5/2 hits: %s", got)
	}
}

// metric makes a metric of the given denominator, which has hits
// if their number is not 0.
func metric(t *testing.T, unit string, num, den, hits int64) *calltree.Metric {
	b := calltree.NewBuilder(new(calltree.Symbols), "*", "time", unit)
	b.SetDenominator(0, big.NewRat(num, den))
	if hits > 0 {
		b.CountHits(0, big.NewRat(hits, 1))
	}
	tree := fixture.Must(b.Tree())(t)
	return tree.Main()
}

// Only a number other than 1 adds an s.
func TestCounted(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{Counted(0, "sample"), "0 samples"},
		{Counted(1, "sample"), "1 sample"},
		{Counted(int64(2), "lost sample"), "2 lost samples"},
		{CountedHits(big.NewRat(1, 1)), "1 hit"},
		{CountedHits(big.NewRat(1, 2)), "0.5 hits"},
		{CountedHits(big.NewRat(3, 1)), "3 hits"},
		{unit(metric(t, "samples", 1, 1, 0)), "1 hit is a cost of 1.000"},
		{unit(metric(t, "samples", 5, 2, 0)), "2.5 hits are a cost of 1.000"},
		{unit(metric(t, "nanoseconds", 3e9, 2, 10)), "1.5 s (10 hits) are a cost of 1.000"},
		{unit(metric(t, "nanoseconds", 3, 1, 3)), "3 hits are a cost of 1.000"},
		{unit(metric(t, "nanoseconds", 3e9, 2, 0)), "1.5 s are a cost of 1.000"},
		{unit(metric(t, "bytes", 4096, 1, 0)), "4096 bytes are a cost of 1.000"},
		{HitsHead(metric(t, "bytes", 4096, 1, 0)), "bytes"},
		{CountedOf(metric(t, "bytes", 4096, 1, 0), big.NewRat(5, 2)), "2.5 bytes"},
		{CountedOf(metric(t, "bytes", 4096, 1, 2), big.NewRat(1, 1)), "1 hit"},
		{HitsHead(metric(t, "bytes", 4096, 1, 2)), "hits"},
		{HitsHead(metric(t, "samples", 2, 1, 0)), "hits"},
	} {
		if test.got != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}
