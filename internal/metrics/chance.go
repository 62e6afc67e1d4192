package metrics

import (
	"math"

	"github.com/cpprof/cpprof/internal/student"
)

// effective returns how many independent samples the pairs
// amount to. Neighbouring samples of most metrics are alike, so
// n of them say less than n independent ones. Let a and b be the
// autocorrelations of the two metrics at a shift of one sample.
// Then the n samples amount to n (1 - a b)/(1 + a b) independent
// ones (Bartlett; Bretherton and others 1999). For example, two
// metrics that hardly change from sample to sample (a = b = 0.9)
// have a tenth of n.
func (p pair) effective() float64 {
	return effectiveOf(len(p.x), p.autocorrelation(p.x)*p.autocorrelation(p.y))
}

func effectiveOf(n int, ab float64) float64 {
	if !Defined(ab) {
		return float64(n)
	}
	ab = max(0, min(ab, 0.999))
	return float64(n) * (1 - ab) / (1 + ab)
}

// autocorrelation returns the correlation of each value with the next sample's.
func (p pair) autocorrelation(x []float64) float64 {
	var now, next []float64
	for i := 1; i < len(x); i++ {
		if p.samples[i] == p.samples[i-1]+1 {
			now, next = append(now, x[i-1]), append(next, x[i])
		}
	}
	return pearson(now, next)
}

// chance returns how likely a correlation coefficient of r, or
// one further from 0, is by chance. It assumes n independent
// pairs of values that have nothing to do with one another
// (Student's t).
func chance(r, n float64) float64 {
	if !Defined(r) || n <= 2 {
		return 1
	}
	if math.Abs(r) >= 1 {
		return 0
	}
	t := math.Abs(r) * math.Sqrt((n-2)/(1-r*r))
	return 2 * student.Survival(t, n-2)
}

// falseShare is the share of the correlations that survive which
// may be there by chance only.
const falseShare = 0.05

// survivors returns the probabilities that survive the bound of
// Benjamini and Hochberg. At most 5 % of the survivors are
// expected to be by chance. Of n tests, the k smallest survive,
// for the greatest k such that the k-th smallest is at most 5 %
// of k/n.
func survivors(p []float64) []bool {
	order := ascending(p)
	survive := make([]bool, len(p))
	for k := len(order); k > 0; k-- {
		if p[order[k-1]] <= falseShare*float64(k)/float64(len(p)) {
			for _, i := range order[:k] {
				survive[i] = true
			}
			break
		}
	}
	return survive
}
