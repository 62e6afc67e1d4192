package metrics

import (
	"math"
	"sync"

	"github.com/cpprof/cpprof/sampledata"
)

// addSeries adds a series of the recording.
func (t *Table) addSeries(i int) {
	s := &t.r.Series[i]
	m := &Monitor{Monitor: s.Monitor, words: s.Words}
	m.column = sync.OnceValue(func() Column { return readSeries(s, t.samples) })
	m.growth = sync.OnceValue(func() Column { return readGrowth(s, t.samples, m.column()) })
	m.even = sync.OnceValue(func() Column { return t.spread(m) })
	t.add(m)
}

// readSeries returns the values of a series; words as their
// indexes in Words.
func readSeries(s *sampledata.Series, samples int) Column {
	codes := make(map[string]float64, len(s.Words))
	for i, w := range s.Words {
		codes[w] = float64(i)
	}
	return fill(s, samples, func(v sampledata.Value) float64 {
		x, ok := v.Float()
		switch {
		case ok:
			return x
		case v.Measured():
			return codes[v.String()]
		}
		return undefined
	})
}

// fill makes a column of the values of a series.
func fill(s *sampledata.Series, samples int, number func(sampledata.Value) float64) Column {
	c := make(Column, samples)
	last, from := undefined, 0
	until := func(end int) {
		for i := from; i < end; i++ {
			c[i] = last
		}
		from = end
	}
	for sample, v := range s.All() {
		until(sample)
		last = number(v)
	}
	until(samples)
	return c
}

// exact is the number up to which a float64 has all whole numbers.
const exact = 1 << 53

// readGrowth returns the values of a counter less its first one.
// The differences of large counts are then exact.
func readGrowth(s *sampledata.Series, samples int, values Column) Column {
	large := false
	for _, x := range values {
		large = large || math.Abs(x) > exact
	}
	if !large {
		return values
	}
	var first sampledata.Value
	return fill(s, samples, func(v sampledata.Value) float64 {
		if !first.Measured() {
			first = v
		}
		switch {
		case !v.Measured():
			return undefined
		case v.Compare(first) >= 0:
			return v.Minus(first)
		}
		return -first.Minus(v)
	})
}
