// Package exact adds fractions without rounding, and without a big.Rat for each.
package exact

import "math/big"

// A Sum is an exact sum of fractions. It has one int64 for whole numbers, and one for each denominator. For example, after
// 1/2, 1/3, 1/2 and 4/2 it has 2/2, 1/3 and the whole number 2. The zero Sum is 0.
type Sum struct {
	whole int64
	parts map[int64]int64 // numerators, by denominators above 1
}

// Add adds num/den; den is at least 1. The sum of all numerators with the same denominator must fit an int64.
func (s *Sum) Add(num, den int64) {
	switch {
	case den == 1:
		s.whole += num
		return
	case num%den == 0:
		s.whole += num / den
		return
	case s.parts == nil:
		s.parts = make(map[int64]int64)
	}
	s.parts[den] += num
}

// AddSum adds another sum.
func (s *Sum) AddSum(o *Sum) {
	s.whole += o.whole
	for den, num := range o.parts {
		s.Add(num, den)
	}
}

// Rat returns the sum.
func (s *Sum) Rat() *big.Rat {
	total, part := new(big.Rat).SetInt64(s.whole), new(big.Rat)
	for den, num := range s.parts {
		total.Add(total, part.SetFrac64(num, den))
	}
	return total
}
