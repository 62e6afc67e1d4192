package exact

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := new(big.Rat)
		var sums [2]Sum
		for range rapid.IntRange(0, 20).Draw(t, "fractions") {
			num, den := rapid.Int64Range(-50, 50).Draw(t, "num"), rapid.Int64Range(1, 6).Draw(t, "den")
			sums[rapid.IntRange(0, 1).Draw(t, "sum")].Add(num, den)
			want.Add(want, big.NewRat(num, den))
		}
		sums[0].AddSum(&sums[1])
		if got := sums[0].Rat(); got.Cmp(want) != 0 {
			t.Errorf("it is %v, want %v", got, want)
		}
	})
}
