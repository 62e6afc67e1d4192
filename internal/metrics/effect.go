package metrics

import (
	"math"
	"slices"

	"github.com/cpprof/cpprof/internal/student"
)

// An Effect compares the values of one quantity with something
// and without it, such as with and without a recording
// (perturbation, section 3.4 of the paper).
type Effect struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	// of each run or turn; only defined values count
	With    []float64 `json:"with"`
	Without []float64 `json:"without"`

	N int `json:"-"` // number of defined values with
	M int `json:"-"` // and without
	// with and without; undefined without values
	Mean       float64 `json:"mean_with"`
	Base       float64 `json:"mean_without"`
	Difference float64 `json:"difference"` // Mean - Base
	// the interval that has the true difference with a
	// probability of 95 % (Welch); undefined for fewer than two
	// values
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	P    float64 `json:"by_chance"` // how likely such a difference is by chance
	// of all quantities together, at most 5 % of those that
	// differ are expected to do so by chance
	Differs bool `json:"differs"`
	// the standard deviations
	StdDevWith    float64 `json:"standard_deviation_with"`
	StdDevWithout float64 `json:"standard_deviation_without"`
}

// confidence is the probability of intervals.
const confidence = 0.95

// Compare computes the effects on several quantities.
func Compare(effects []Effect) {
	p := make([]float64, 0, len(effects))
	var of []*Effect
	for i := range effects {
		e := &effects[i]
		e.welch()
		if Defined(e.Low) {
			p, of = append(p, e.P), append(of, e)
		}
	}
	for i, survives := range survivors(p) {
		of[i].Differs = survives
	}
}

// welch computes the difference of the means, for variances that may differ.
func (e *Effect) welch() {
	with, without := definedOf(e.With), definedOf(e.Without)
	e.N, e.M = len(with), len(without)
	e.Mean, e.Base, e.Difference, e.Low, e.High, e.P = undefined, undefined, undefined,
		undefined, undefined, 1
	e.StdDevWith, e.StdDevWithout = undefined, undefined
	if e.N > 0 {
		e.Mean = mean(with)
	}
	if e.M > 0 {
		e.Base = mean(without)
	}
	e.Difference = e.Mean - e.Base
	if e.N < 2 || e.M < 2 {
		return
	}
	e.StdDevWith, e.StdDevWithout = deviance(with), deviance(without)
	a, b := e.StdDevWith*e.StdDevWith/float64(e.N), e.StdDevWithout*e.StdDevWithout/float64(e.M)
	if a+b == 0 { // each has one value only
		e.Low, e.High = e.Difference, e.Difference
		if e.Difference != 0 {
			e.P = 0
		}
		return
	}
	freedom := (a + b) * (a + b) / (a*a/float64(e.N-1) + b*b/float64(e.M-1))
	half := student.Quantile(1-(1-confidence)/2, freedom) * math.Sqrt(a+b)
	e.Low, e.High = e.Difference-half, e.Difference+half
	e.P = 2 * student.Survival(math.Abs(e.Difference)/math.Sqrt(a+b), freedom)
}

func definedOf(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), func(x float64) bool { return !isFinite(x) })
}
