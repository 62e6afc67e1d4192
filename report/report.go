// Package report writes the results of the analyses as text and JSON: the refinement tree of a session, the table of thread
// classes, the locks, what a recording cost its target, how two recordings differ, and the standard reports of the arcflow
// paper (xtree, xprof, xarc). It does no analysis of its own.
package report

import (
	"fmt"
	"math/big"

	"github.com/shopspring/decimal"
)

// Decimal formats an exact number with the given number of decimals, and rounds halves away from zero.
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
	if r.IsInt() && r.Num().IsInt64() {
		return Counted(r.Num().Int64(), "hit")
	}
	return Hits(r) + " hits"
}

// Counted formats a number with a word, and adds an s to the word unless the number is 1: "1 sample", "2 samples".
func Counted[N int | int32 | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// unit returns a text that says how many hits are a cost of 1.
func unit(denominator *big.Rat) string {
	verb := "are"
	if denominator.Cmp(big.NewRat(1, 1)) == 0 {
		verb = "is"
	}
	return fmt.Sprintf("%s %s a cost of 1.000", CountedHits(denominator), verb)
}

// Percent formats a share of 1 as a percentage.
func Percent(share float64) string {
	return fmt.Sprintf("%.2f %%", 100*share)
}
