package sampledata

import (
	"cmp"
	"math"
)

// SeriesStats sum a series up. A Value that can't be computed is
// not measured.
type SeriesStats struct {
	Samples int   `json:"samples"` // number of samples in which something was measured
	Min     Value `json:"min"`     // not of a Nominal monitor
	Max     Value `json:"max"`
	Last    Value `json:"last"` // at the last sample
	Rate    Value `json:"rate"` // of a Counter: its growth per second, from the first value to the last
	// of a Counter: how often it began again at a lower value;
	// Rate ignores such a step
	Restarts int `json:"restarts"`
}

// SeriesStats sums up one series of a recording.
func (r *Recording) SeriesStats(id MonitorID) SeriesStats {
	s := &r.Series[id]
	sum := seriesSum{series: s}
	at, last := 0, Value{}
	for sample, v := range s.All() {
		sum.addValue(last, at, sample)
		sum.addStep(last, v)
		at, last = sample, v
	}
	sum.addValue(last, at, r.Samples.Len())
	sum.Last = last
	if grown := r.between(sum.first, sum.last); s.Kind == Counter && grown > 0 {
		sum.Rate = Real(sum.grown / grown)
	}
	return sum.SeriesStats
}

// between returns the seconds from one sample to another.
func (r *Recording) between(first, last int) float64 {
	if last <= first {
		return 0
	}
	return (r.Samples.Time(last) - r.Samples.Time(first)).Seconds()
}

// A seriesSum adds up what happened to a value.
type seriesSum struct {
	SeriesStats
	series      *Series
	first, last int     // the first and the last sample in which something was measured
	grown       float64 // of a counter
}

// addValue adds a value that was measured in the samples from
// (included) to end (excluded).
func (s *seriesSum) addValue(v Value, from, end int) {
	if !v.Measured() || end == from {
		return
	}
	if s.Samples == 0 {
		s.first = from
	}
	s.Samples += end - from
	s.last = end - 1
	if s.series.Kind == Nominal {
		return
	}
	if !s.Min.Measured() || v.Compare(s.Min) < 0 {
		s.Min = v
	}
	if !s.Max.Measured() || v.Compare(s.Max) > 0 {
		s.Max = v
	}
}

// addStep adds the step from one value to the next.
func (s *seriesSum) addStep(before, now Value) {
	if s.series.Kind != Counter || !before.Measured() || !now.Measured() {
		return
	}
	if now.Compare(before) < 0 {
		s.Restarts++
	} else if d := now.Minus(before); !math.IsNaN(d) {
		s.grown += d
	}
}

// Compare orders two numbers of one monitor, exactly.
func (v Value) Compare(w Value) int {
	switch v.form {
	case number:
		return cmp.Compare(int64(v.bits), int64(w.bits))
	case real:
		return cmp.Compare(math.Float64frombits(v.bits), math.Float64frombits(w.bits))
	}
	return cmp.Compare(v.bits, w.bits)
}

// Minus returns v - w, which are values of one counter, and w is
// not larger. It rounds only the difference: if two large counts
// differ by little, the result is exact.
func (v Value) Minus(w Value) float64 {
	if v.form == real {
		return math.Float64frombits(v.bits) - math.Float64frombits(w.bits)
	}
	return float64(v.bits - w.bits)
}
