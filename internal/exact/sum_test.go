package exact

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hits, weight := new(big.Rat), new(big.Rat)
		number := rapid.OneOf(rapid.Int64Range(0, 50), rapid.Int64Range(0, math.MaxInt64))
		var sums [2]Sum
		for range rapid.IntRange(0, 20).Draw(t, "fractions") {
			h, w := rapid.Int64Range(0, 50).Draw(t, "hits"), number.Draw(t, "weight")
			num, den := number.Draw(t, "num"), rapid.Int64Range(1, 6).Draw(t, "den")
			sums[rapid.IntRange(0, 1).Draw(t, "sum")].Add(h, w, num, den)
			fraction := big.NewRat(num, den)
			hits.Add(hits, new(big.Rat).Mul(big.NewRat(h, 1), fraction))
			weight.Add(weight, new(big.Rat).Mul(big.NewRat(w, 1), fraction))
		}
		sums[0].AddSum(&sums[1])
		if h, w := sums[0].Hits(), sums[0].Weight(); h.Cmp(hits) != 0 || w.Cmp(weight) != 0 {
			t.Errorf("%v hits of weight %v, want %v of %v", h, w, hits, weight)
		}
	})
}

func TestCompare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *big.Rat {
			return big.NewRat(rapid.Int64Range(-9, 9).Draw(t, name), rapid.Int64Range(1, 3).Draw(t, name+" den"))
		}
		if a, b := draw("a"), draw("b"); Compare(a, b) != a.Cmp(b) {
			t.Errorf("%v and %v: %d, want %d", a, b, Compare(a, b), a.Cmp(b))
		}
	})
}
