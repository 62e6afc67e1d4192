//go:build linux

package main

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/cpprof/cpprof/refine/hotspots"
)

// ratioError estimates the standard error of sum(xs)/sum(ys),
// where both have a term for each sample. If there are too few
// samples to tell, it returns 1.
func ratioError(xs, ys []float64) float64 {
	all := make([]hotspots.Observation, len(xs))
	for i := range xs {
		all[i] = hotspots.Observation{Weight: 1, Hits: xs[i], Base: ys[i]}
	}
	r := hotspots.RatioOf(all, 1)
	if _, known := r.Margin(); known {
		return r.Error
	}
	return 1
}

// binomialError returns the standard error of a share p that was
// estimated from a number of samples of so many goroutines. It
// is for shares that the samples hardly met: their own spread
// says little then. Goroutines of a class are alike, so that
// many of them count as four.
func binomialError(p, samples, alive float64) float64 {
	return math.Sqrt(p*(1-p)/samples) / math.Sqrt(min(max(alive, 1), 4))
}

// effective returns the number of equal weights that is worth as
// much as these.
func effective(weights []float64) float64 {
	squares := floats.Dot(weights, weights)
	if squares == 0 {
		return 0
	}
	sum := floats.Sum(weights)
	return sum * sum / squares
}

// mean returns the weighted mean of some numbers; 0 if all weights are.
func mean(xs, weights []float64) float64 {
	total := floats.Sum(weights)
	if total == 0 {
		return 0
	}
	return floats.Dot(weights, xs) / total
}

// product returns the products of two lists' elements.
func product(a, b []float64) []float64 { return floats.MulTo(make([]float64, len(a)), a, b) }
