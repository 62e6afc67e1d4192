// Package report writes the results of the analyses as text and
// JSON: the refinement tree of a session, the table of thread
// classes, the locks, what a recording cost its target, how two
// recordings differ, and the standard reports of the arcflow
// paper (xtree, xprof, xarc). It does no analysis of its own.
//
// What writes text returns no error: the writer keeps its own,
// as a bufio.Writer does, and whoever made the writer asks it in
// the end.
package report

import (
	"fmt"
	"math/big"
	"time"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/shopspring/decimal"
)

// Decimal formats an exact number with the given number of
// decimals, and rounds halves away from zero.
func Decimal(r *big.Rat, places int32) string {
	return decimal.NewFromBigRat(r, places).StringFixed(places)
}

// Cost formats a cost as the paper does, with three decimals.
func Cost(r *big.Rat) string { return Decimal(r, 3) }

// Hits formats hits: whole numbers as they are, others with one decimal.
func Hits(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return Decimal(r, 1)
}

// CountedHits formats hits with the word: "1 hit", "2.5 hits".
func CountedHits(r *big.Rat) string {
	if hits := Hits(r); hits != "1" {
		return hits + " hits"
	}
	return "1 hit"
}

// Counted formats a number with a word, and adds an s to the
// word unless the number is 1: "1 sample", "2 samples".
func Counted[N int | int32 | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// either returns the word for one thing, or that for several.
func either(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// unit returns a text that says what is a cost of 1: "50.1 s
// (2390 hits) are a cost of 1.000".
func unit(m *calltree.Metric) string {
	verb, whole, hits := "are", Whole(m), m.Hits().Denominator
	switch {
	case !countsHits(m):
	case m.Unit == views.Nanoseconds &&
		m.Denominator.Cmp(hits) == 0: // a sample without a time weighs a nanosecond
		whole = CountedHits(hits)
	default:
		whole += " (" + CountedHits(hits) + ")"
	}
	if m.Denominator.Cmp(big.NewRat(1, 1)) == 0 {
		verb = "is"
	}
	return fmt.Sprintf("%s %s a cost of 1.000", whole, verb)
}

// countsHits reports whether a metric has hits beside its
// weights. A pprof profile's metric has none.
func countsHits(m *calltree.Metric) bool { return m.Hits() != m }

// HitsHead returns the heading of the numbers beside costs: hits
// or, if they are not counted, the unit of the weights.
func HitsHead(m *calltree.Metric) string {
	if countsHits(m) || m.Unit == "" || m.Unit == "samples" {
		return "hits"
	}
	return termtext.Printable(m.Unit)
}

// CountedOf formats hits with the word or, if a metric does not
// count them, a weight with its unit.
func CountedOf(m *calltree.Metric, n *big.Rat) string {
	if head := HitsHead(m); head != "hits" {
		return Hits(n) + " " + head
	}
	return CountedHits(n)
}

// Whole returns the denominator of a metric, the weight that is
// a cost of 1: "50.1 s", "4096 bytes", or "2390 hits".
func Whole(m *calltree.Metric) string {
	switch m.Unit {
	case views.Nanoseconds:
		return Nanoseconds(m.Denominator)
	case "", "samples":
		return CountedHits(m.Denominator)
	case "count":
		return Hits(m.Denominator) + " " + m.Name
	}
	return Hits(m.Denominator) + " " + m.Unit
}

// Nanoseconds formats a time, rounded: "50.1 s".
func Nanoseconds(n *big.Rat) string {
	if n.Sign() < 0 {
		return "-" + Nanoseconds(new(big.Rat).Neg(n))
	}
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	if !whole.IsInt64() {
		return new(big.Int).Quo(whole, big.NewInt(1e9)).String() + " s"
	}
	return span(time.Duration(whole.Int64()))
}

// Percent formats a share of 1 as a percentage.
func Percent(share float64) string {
	return fmt.Sprintf("%.2f %%", 100*share)
}
