package metrics

import (
	"math"
	"testing"
)

// The first example is that of R's documentation of t.test:
// t.test(extra ~ group, data = sleep), Welch's test: t =
// -1.8608, df = 17.776, p = 0.07939, interval -3.3654832 to
// 0.2054832.
func TestWelch(t *testing.T) {
	effects := []Effect{
		{
			Name:    "sleep",
			With:    []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0},
			Without: []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4},
		},
		{Name: "constant", With: []float64{3, 3}, Without: []float64{3, 3, 3}},
		{Name: "always one more", With: []float64{4, 4}, Without: []float64{3, 3, math.NaN(), 3}},
		{Name: "once", With: []float64{4}, Without: []float64{3, 3}},
		{Name: "never", With: nil, Without: nil},
		{Name: "clear", With: []float64{100, 101, 99, 100}, Without: []float64{10, 11, 9, 10}},
	}
	Compare(effects)
	close := func(name string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) < 1e-5) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	e := effects[0]
	close("difference", e.Difference, -1.58)
	close("low", e.Low, -3.3654832)
	close("high", e.High, 0.2054832)
	close("p", e.P, 0.0793941)
	for i, want := range []bool{false, false, true, false, false, true} {
		if effects[i].Differs != want {
			t.Errorf("%s differs: %v", effects[i].Name, !want)
		}
	}
	if effects[2].M != 3 || effects[2].Low != 1 || Defined(effects[3].Low) || effects[3].Difference != 1 || Defined(effects[4].Mean) {
		t.Errorf("%+v", effects)
	}
}
