// Package forecast compares gains that cpprof predicts with those that are
// measured.
package forecast

import (
	"fmt"
	"math"

	"github.com/cpprof/cpprof/internal/bench/tool"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/why"
)

// A Speed is how fast a program worked.
type Speed struct{ Rate, Each float64 } // pieces a second, and seconds a piece

// A Forecast is a predicted factor, with its 95 % interval,
// beside the measured one.
type Forecast struct{ Times, Low, High, Measured float64 }

// Of puts a gain beside the speeds with the cost and without it.
// The factor is of the rate or, if a program's arrivals are not
// its own, of the time of a piece. A silent gain has none, nor one without
// a bound. A fix of a lock may also make cheaper what is done under it: then
// the bound is what that would bring.
func Of(g *why.Gain, with, without Speed) (f Forecast, ok bool) {
	switch {
	case g == nil, g.Unbounded():
		return f, false
	case g.Times != nil:
		high := g.Times.High
		if g.Under != nil {
			high = max(high, g.Under.High)
		}
		return Forecast{g.Times.Times, g.Times.Low, high, without.Rate / with.Rate}, true
	case g.Less != nil:
		return Forecast{1 / (1 - g.Less.Share), 1 / (1 - g.Less.Low), 1 / (1 - g.Less.High),
			with.Each / without.Each}, true
	}
	return f, false
}

// noise is how far two measurements of one program differ at
// most, usually.
const noise = 1.1

func (f Forecast) error() float64 { return math.Abs(f.Times-f.Measured) / f.Measured }

// near reports whether the factor is within 1.5 times the measured one.
func (f Forecast) near() bool { return math.Abs(math.Log(f.Times/f.Measured)) <= math.Log(1.5) }

// Narrow reports whether the interval is within a factor of 2.
func (f Forecast) Narrow() bool { return f.High <= 2*f.Low }

// Agreement describes how well predictions agree with what was measured.
func Agreement(all []Forecast) string {
	if len(all) == 0 {
		return "no predictions"
	}
	var errors, measured, predicted []float64
	atMost, near := 0, 0
	for _, f := range all {
		errors = append(errors, f.error())
		measured, predicted = append(measured, f.Measured), append(predicted, f.Times)
		if f.Measured <= noise*f.High {
			atMost++
		}
		if f.near() {
			near++
		}
	}
	return fmt.Sprintf("%d predictions: Spearman %.2f, median error %.0f %%, within a factor of 1.5 in %d, "+
		"\"at most\" right in %d", len(all), metrics.Spearman(measured, predicted),
		100*tool.Median(errors), near, atMost)
}
