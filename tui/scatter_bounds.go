package tui

import (
	"strconv"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/internal/report"
)

// bounds are the values of a metric at some samples, and the nearest ones at
// others.
type bounds struct {
	metric       *metrics.Metric
	low, high    float64 // of the samples
	below, above float64 // the nearest ones of others that are excluded
	some         bool    // there are samples
	under, over  bool    // others are below, or above
}

// include takes a sample's value.
func (b *bounds) include(x float64) {
	if !b.some {
		b.low, b.high, b.some = x, x, true
	}
	b.low, b.high = min(b.low, x), max(b.high, x)
}

// exclude takes the value of another sample, which lies below or above, or
// neither.
func (b *bounds) exclude(x float64, isBelow, isAbove bool) {
	if isBelow && (!b.under || x > b.below) {
		b.below, b.under = x, true
	}
	if isAbove && (!b.over || x < b.above) {
		b.above, b.over = x, true
	}
}

// conditions returns expressions that hold for the samples only, with numbers
// of few digits.
func (b *bounds) conditions() (list []string) {
	name := b.metric.Expr
	if b.metric.Truth {
		switch {
		case b.low == 1 && b.under:
			return []string{"(" + name + ")"}
		case b.high == 0 && b.over:
			return []string{"!(" + name + ")"}
		}
		return nil
	}
	if b.under {
		list = append(list, name+" >= "+shortest(b.low, b.below))
	}
	if b.over {
		list = append(list, name+" <= "+shortest(b.high, b.above))
	}
	if list == nil && b.metric.Column.Count() < len(b.metric.Column) { // others may be undefined
		list = append(list, name+" >= "+strconv.FormatFloat(b.low, 'g', -1, 64))
	}
	return list
}

// shortest returns the number with the fewest digits from x to, but not
// including, the limit.
func shortest(x, limit float64) string {
	for digits := 1; digits < 17; digits++ {
		for _, candidate := range []float64{x, x/2 + limit/2} {
			text := strconv.FormatFloat(candidate, 'g', digits, 64)
			if y, err := strconv.ParseFloat(text, 64); err == nil && min(x, limit) <= y &&
				y <= max(x, limit) && y != limit {
				return text
			}
		}
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// text returns the range of the samples.
func (b *bounds) text(unit string) string {
	if b.low == b.high {
		return report.InUnit(b.low, unit)
	}
	return report.InUnit(b.low, unit) + " to " + report.InUnit(b.high, unit)
}
