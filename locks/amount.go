package locks

import "math/big"

// An amount is an exact sum of fractions. The zero amount is 0.
type amount struct {
	whole int64
	parts map[int64]int64 // numerators, by denominators above 1
}

func (a *amount) add(num, den int64) {
	if num%den == 0 {
		a.whole += num / den
		return
	}
	if a.parts == nil {
		a.parts = make(map[int64]int64)
	}
	a.parts[den] += num
}

func (a *amount) addAll(b *amount) {
	a.whole += b.whole
	for den, num := range b.parts {
		a.add(num, den)
	}
}

func (a *amount) rat() *big.Rat {
	sum := new(big.Rat).SetInt64(a.whole)
	for den, num := range a.parts {
		sum.Add(sum, big.NewRat(num, den))
	}
	return sum
}
