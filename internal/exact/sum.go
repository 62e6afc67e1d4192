// Package exact adds fractions of hits and of their weights
// without rounding, and without a big.Rat for each.
package exact

import (
	"math/big"
	"math/bits"
)

// A Sum is an exact sum of hits, and of the time that they stand
// for, which is their weight. Goroutines share hits, so that
// both are fractions. A Sum has two int64 for whole numbers, and
// two for each denominator. For example, after 1/2, 1/3, 1/2 and
// 4/2 of a hit that stands for 10 ns, the hits are 2/2, 1/3 and
// the whole number 2, and the weights ten times that. The zero
// Sum is 0.
type Sum struct {
	whole numerators
	parts map[int64]numerators // by denominators above 1
	large map[int64]*largeNumerators
}

type numerators struct{ hits, weight int64 }

// largeNumerators have what doesn't fit numerators.
type largeNumerators struct{ hits, weight big.Int }

// Add adds num/den of some hits, and num/den of their weight. No
// number is negative, and den is at least 1.
func (s *Sum) Add(hits, weight, num, den int64) {
	switch {
	case den > 1 && num%den == 0:
		num, den = num/den, 1
	case num == 1 && den == 1 && s.whole.hits+hits >= 0 && s.whole.weight+weight >= 0: // mostly
		s.whole.hits += hits
		s.whole.weight += weight
		return
	}
	var to numerators
	if den == 1 {
		to = s.whole
	} else {
		to = s.parts[den]
	}
	if !to.add(hits, weight, num) {
		s.addLarge(hits, weight, num, den)
		return
	}
	if den == 1 {
		s.whole = to
		return
	}
	if s.parts == nil {
		s.parts = make(map[int64]numerators)
	}
	s.parts[den] = to
}

// add adds num times some hits and their weight, and reports
// whether the sums fit.
func (n *numerators) add(hits, weight, num int64) bool {
	hits, hitsFit := productAdded(n.hits, hits, num)
	weight, weightFits := productAdded(n.weight, weight, num)
	if hitsFit && weightFits {
		n.hits, n.weight = hits, weight
	}
	return hitsFit && weightFits
}

// productAdded returns sum + a*b, and reports whether that fits.
// No number is negative.
func productAdded(sum, a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	lo, carry := bits.Add64(lo, uint64(sum), 0)
	return int64(lo), hi == 0 && carry == 0 && lo>>63 == 0
}

func (s *Sum) addLarge(hits, weight, num, den int64) {
	to := s.large[den]
	if to == nil {
		if s.large == nil {
			s.large = make(map[int64]*largeNumerators)
		}
		to = new(largeNumerators)
		s.large[den] = to
	}
	factor := big.NewInt(num)
	to.hits.Add(&to.hits, new(big.Int).Mul(big.NewInt(hits), factor))
	to.weight.Add(&to.weight, new(big.Int).Mul(big.NewInt(weight), factor))
}

// AddSum adds another sum.
func (s *Sum) AddSum(o *Sum) {
	s.Add(o.whole.hits, o.whole.weight, 1, 1)
	for den, n := range o.parts {
		s.Add(n.hits, n.weight, 1, den)
	}
	for den, n := range o.large {
		s.addLarge(0, 0, 1, den)
		to := s.large[den]
		to.hits.Add(&to.hits, &n.hits)
		to.weight.Add(&to.weight, &n.weight)
	}
}

// Hits returns the hits.
func (s *Sum) Hits() *big.Rat {
	return s.sum(func(n numerators) int64 { return n.hits },
		func(n *largeNumerators) *big.Int { return &n.hits })
}

// Weight returns the weight of the hits.
func (s *Sum) Weight() *big.Rat {
	return s.sum(func(n numerators) int64 { return n.weight },
		func(n *largeNumerators) *big.Int { return &n.weight })
}

func (s *Sum) sum(of func(numerators) int64, ofLarge func(*largeNumerators) *big.Int) *big.Rat {
	total := new(big.Rat).SetInt64(of(s.whole))
	if s.parts == nil && s.large == nil {
		return total
	}
	part := new(big.Rat)
	add := func() {
		if total.Sign() == 0 {
			total, part = part, total // mostly there is only one part
		} else if part.Sign() != 0 {
			total.Add(total, part)
		}
	}
	for den, n := range s.parts {
		part.SetFrac64(of(n), den)
		add()
	}
	for den, n := range s.large {
		part.SetFrac(ofLarge(n), big.NewInt(den))
		add()
	}
	return total
}

// Compare compares two sums as big.Rat.Cmp does, and faster if
// both are whole numbers.
func Compare(a, b *big.Rat) int {
	if a.IsInt() && b.IsInt() {
		return a.Num().Cmp(b.Num())
	}
	return a.Cmp(b)
}
