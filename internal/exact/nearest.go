package exact

import "math/big"

// Nearest returns the whole number nearest to x; of two, the greater one.
func Nearest(x *big.Rat) *big.Int {
	if x.IsInt() {
		return new(big.Int).Set(x.Num())
	}
	twice := new(big.Int).Lsh(x.Num(), 1)
	twice.Add(twice, x.Denom())
	return twice.Div(twice, new(big.Int).Lsh(x.Denom(), 1)) // Div rounds down, also below 0
}

// Multiple returns the least common multiple of two numbers above 0.
func Multiple(a, b *big.Int) *big.Int {
	common := new(big.Int).GCD(nil, nil, a, b)
	return common.Mul(a, new(big.Int).Quo(b, common))
}
