package student

import (
	"math"
	"testing"
)

// The values are of tables of the distribution.
func TestStudent(t *testing.T) {
	for _, c := range []struct{ p, freedom, quantile float64 }{
		{0.975, 1, 12.7062047}, {0.975, 5, 2.5705818}, {0.975, 30, 2.0422725}, {0.975, 1e6, 1.9599664},
		{0.95, 10, 1.8124611}, {0.9995, 3, 12.9239787}, {0.75, 2.5, 0.7884} /* between those of 2 and 3 */, {0.5, 4, 0},
	} {
		within := 1e-6 * max(1, c.quantile)
		if c.freedom == 2.5 {
			within = 0.03
		}
		if got := Quantile(c.p, c.freedom); math.Abs(got-c.quantile) > within {
			t.Errorf("quantile %v of %v degrees of freedom: %v, want %v", c.p, c.freedom, got, c.quantile)
		} else if back := Survival(got, c.freedom); math.Abs(back-(1-c.p)) > 1e-9 {
			t.Errorf("above %v with %v degrees of freedom: %v, want %v", got, c.freedom, back, 1-c.p)
		}
	}
}
