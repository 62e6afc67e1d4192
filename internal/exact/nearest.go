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

// Quo returns a / b; 0 if b is 0.
func Quo(a, b *big.Rat) *big.Rat {
	if b.Sign() == 0 {
		return new(big.Rat)
	}
	return new(big.Rat).Quo(a, b)
}

// Multiple returns the least common multiple of two numbers above 0.
func Multiple(a, b *big.Int) *big.Int {
	common := new(big.Int).GCD(nil, nil, a, b)
	return common.Mul(a, new(big.Int).Quo(b, common))
}
