package views

import (
	"math/big"
	"math/bits"

	"github.com/cpprof/cpprof/views/calltree"
)

// A share is an exact, positive fraction of some hits, and of
// the time that they stand for: num/den of them, or big if these
// numbers don't fit.
type share struct {
	observed
	num, den int64
	big      *big.Rat
}

// An observed is one goroutine in one or more samples: a hit in
// each, and the time that the samples stand for.
type observed struct{ hits, time int64 }

// of returns the share of a number of goroutines that are all
// observed in this way.
func (o observed) of(goroutines int64) share { return share{observed: o, num: goroutines, den: 1} }

// times returns the share multiplied by num/den; both are at least 1.
func (s share) times(num, den int64) share {
	if num == den {
		return s
	}
	if s.big == nil {
		a, b := gcd(s.num, den), gcd(num, s.den)
		n, nfits := product(s.num/a, num/b)
		d, dfits := product(s.den/b, den/a)
		if nfits && dfits {
			return share{observed: s.observed, num: n, den: d}
		}
	}
	return share{observed: s.observed, big: new(big.Rat).Mul(s.rat(), big.NewRat(num, den))}
}

// rat returns the fraction.
func (s share) rat() *big.Rat {
	if s.big != nil {
		return s.big
	}
	return big.NewRat(s.num, s.den)
}

// addTo adds the share to the weight and the hits of a node.
func (s share) addTo(b *calltree.Builder, node int32) {
	if s.big == nil {
		time, timeFits := product(s.time, s.num)
		hits, hitsFit := product(s.hits, s.num)
		if timeFits && hitsFit {
			b.AddHits(0, node, time, hits, s.den)
			return
		}
	}
	fraction := s.rat()
	of := func(n int64) *big.Rat { return new(big.Rat).Mul(fraction, new(big.Rat).SetInt64(n)) }
	b.AddTotal(0, node, calltree.Total{Weight: of(s.time), Hits: of(s.hits)})
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// product multiplies two positive numbers, and reports whether the result fits.
func product(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(lo), hi == 0 && lo>>63 == 0
}
