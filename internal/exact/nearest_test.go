package exact

import (
	"math/big"
	"testing"
)

func TestNearest(t *testing.T) {
	for text, want := range map[string]int64{"1/2": 1, "-1/2": 0, "-3/2": -1, "5/3": 2, "4/3": 1, "7": 7, "-5/3": -2} {
		x, _ := new(big.Rat).SetString(text)
		if got := Nearest(x); got.Int64() != want {
			t.Errorf("%s: %v, want %d", text, got, want)
		}
	}
}
