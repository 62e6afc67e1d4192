// Package share parses the quantities that a person types: a
// share of a whole ("5%", "0.05"), and a threshold, which may be
// a number of hits ("10"). Numbers are exact fractions.
package share

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// longest is the most characters of a number: more than anybody
// types, and few enough to compute with.
const longest = 40

// MaxHits is the largest number of hits that can be parsed.
const MaxHits = 1<<63 - 1

var (
	one        = big.NewRat(1, 1)
	errShare   = errors.New("want a share such as 5% or 0.05, from 0 to 100%")
	errRatio   = errors.New("want a share such as 5% or 0.05, at least 0")
	errEither  = errors.New("want hits (10) or a cost (0.05, 5%)")
	errTooMany = errors.New("more hits than can be counted")
)

// Parse reads a share of a whole, from 0 to 1: a percentage
// ("5%", "5 %", "0.5%") or a fraction ("0.05").
func Parse(s string) (*big.Rat, error) {
	n, ok := parse(s)
	switch {
	case !ok || n.hits:
		return nil, errShare
	case n.value.Cmp(one) <= 0:
		return n.value, nil
	case n.percent:
		return nil, errors.New("a share is 100% at most; want one such as 5% or 0.05")
	case n.value.Cmp(big.NewRat(100, 1)) <= 0:
		return nil, fmt.Errorf("a share is 1 or 100%% at most; for %[1]s percent write %[1]s%%",
			strings.TrimSpace(s))
	}
	return nil, errors.New("a share is 1 or 100% at most; want one such as 5% or 0.05")
}

// ParseRatio reads a share that may be more than a whole, such
// as 150% or 1.5 of one processor.
func ParseRatio(s string) (*big.Rat, error) {
	n, ok := parse(s)
	if !ok || n.hits {
		return nil, errRatio
	}
	return n.value, nil
}

// ParseThreshold reads either hits or a share of a view's
// denominator; the other result is nil. A whole number is hits
// ("10", "10 hits"), a number with a point or a percent sign is
// a share ("0.05", "5%", "5 %").
func ParseThreshold(s string) (hits, cost *big.Rat, err error) {
	n, ok := parse(s)
	switch {
	case !ok:
		return nil, nil, errEither
	case n.point && n.hits:
		return nil, nil, errors.New(`want a whole number before "hits"`)
	case n.percent || n.point:
		if n.value.Cmp(one) > 0 {
			return nil, nil, errors.New("a cost is a fraction of the whole, at most 1 or 100%")
		}
		return nil, n.value, nil
	case n.value.Cmp(new(big.Rat).SetInt64(MaxHits)) > 0:
		return nil, nil, errTooMany
	}
	return n.value, nil, nil
}

// A number is a parsed number, and the way it was written.
type number struct {
	value   *big.Rat // of "5%", 1/20
	percent bool
	hits    bool // "hits" or "hit" follows it
	point   bool // it is written with a decimal point
}

// parse reads digits with an optional point, and then "%",
// "hits" or nothing, with optional blanks. It refuses the other
// forms of numbers that big.Rat reads: with an exponent, a short
// text can be a huge number.
func parse(s string) (n number, ok bool) {
	text := strings.TrimSpace(s)
	if len(text) > longest {
		return n, false
	}
	text, n.percent = strings.CutSuffix(text, "%")
	for _, word := range []string{"hits", "hit"} {
		if !n.hits && !n.percent {
			text, n.hits = strings.CutSuffix(text, word)
		}
	}
	text = strings.TrimSpace(text)
	before, after, point := strings.Cut(text, ".")
	digits := before + after
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return n, false
	}
	n.point = point
	if n.value, ok = new(big.Rat).SetString(text); ok && n.percent {
		n.value.Quo(n.value, big.NewRat(100, 1))
	}
	return n, ok
}

// Percent formats a share so that Parse can read it: "5%",
// "0.5%". It rounds to nine digits after the point.
func Percent(r *big.Rat) string {
	text := new(big.Rat).Mul(r, big.NewRat(100, 1)).FloatString(9)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".") + "%"
}
