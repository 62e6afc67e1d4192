package views

import (
	"math/big"
	"math/bits"

	"github.com/cpprof/cpprof/calltree"
)

// A share is an exact, positive number of hits: num/den, or big if those don't fit.
type share struct {
	num, den int64
	big      *big.Rat
}

func whole(n int64) share { return share{num: n, den: 1} }

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
			return share{num: n, den: d}
		}
	}
	return share{big: new(big.Rat).Mul(s.rat(), big.NewRat(num, den))}
}

func (s share) rat() *big.Rat {
	if s.big != nil {
		return s.big
	}
	return big.NewRat(s.num, s.den)
}

// addTo adds the share to the hits of a node.
func (s share) addTo(b *calltree.Builder, node int32) {
	if s.big != nil {
		b.AddRat(0, node, s.big)
		return
	}
	b.Add(0, node, s.num, s.den)
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
