package metrics

import "slices"

// Stats sum a metric up over the samples of a list. What can't
// be computed is undefined, see Defined.
type Stats struct {
	N        int     `json:"samples"` // defined values
	Min      float64 `json:"min"`
	Max      float64 `json:"max"`
	Sum      float64 `json:"sum"`
	Mean     float64 `json:"mean"`
	Median   float64 `json:"median"`
	Deviance float64 `json:"standard_deviation"` // of n - 1

	// Set for a metric that is a quotient of two differences:
	// the sum of the numerators divided by the sum of the
	// denominators, over the RatioN samples in which both are
	// defined. The mean of such a metric does not describe the
	// program on the whole: if it missed 1 of 1 accesses in one
	// sample, and 1 of 99 in another, it missed 2 of 100, not
	// 50.5 %.
	Ratio  float64 `json:"ratio_of_sums"`
	RatioN int     `json:"-"`
}

// Stats returns the statistics of a metric over a list.
func (m *Metric) Stats(l List) Stats {
	var values []float64
	for i, x := range m.Column {
		if Defined(x) && l.Has(i) {
			values = append(values, x)
		}
	}
	s := statsOf(values)
	if m.Over != nil {
		s.Ratio, s.RatioN = ratio(m.Over, m.Under, l)
	}
	return s
}

// NoStats returns the statistics of a number of values that are
// no numbers.
func NoStats(n int) Stats {
	s := statsOf(nil)
	s.N, s.Sum = n, undefined
	return s
}

// statsOf returns the statistics of values, which it sorts.
func statsOf(values []float64) Stats {
	s := Stats{N: len(values), Min: undefined, Max: undefined, Mean: undefined,
		Median: undefined, Deviance: undefined, Ratio: undefined}
	if s.N == 0 {
		return s
	}
	for _, x := range values {
		s.Sum += x
	}
	s.Mean = s.Sum / float64(s.N)
	if s.N > 1 {
		s.Deviance = deviance(values)
	}
	slices.Sort(values)
	s.Min, s.Max = values[0], values[s.N-1]
	s.Median = values[s.N/2]
	if s.N%2 == 0 {
		s.Median = values[s.N/2-1]/2 + values[s.N/2]/2
	}
	return s
}

func ratio(over, under Column, l List) (of float64, n int) {
	var a, b float64
	for i := range over {
		if Defined(over[i]) && Defined(under[i]) && l.Has(i) {
			a, b = a+over[i], b+under[i]
			n++
		}
	}
	if b == 0 {
		return undefined, n
	}
	return a / b, n
}
