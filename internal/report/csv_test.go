package report

import (
	"math"
	"math/big"
	"strings"
	"testing"
)

func TestCSV(t *testing.T) {
	for text, want := range map[string]string{"=1+1": "'=1+1", "@x": "'@x", "main.f": "main.f", "a\x1bb": `a\x1bb`} {
		if got := cellText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	var b strings.Builder
	c := NewCSV(&b)
	c.Row("a,b", 1, int64(-2), 0.5, math.NaN(), math.Inf(1), big.NewRat(1, 3), (*big.Rat)(nil))
	if err := c.End(); err != nil || b.String() != "\"a,b\",1,-2,0.5,,,0.333333,\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
