package why

import (
	"cmp"
	"math"
	"slices"

	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/sampledata"
)

// A Companion is a monitor of the recording that rises and falls
// with a finding. Neither is known to be the cause.
type Companion struct {
	Monitor string  `json:"monitor"` // or its rate, if it counts something
	R       float64 `json:"r"`       // the correlation coefficient
}

const (
	minR = 0.6 // the least correlation that is mentioned
	// how likely it may be by chance that any of all monitors
	// has such a correlation
	chanceR       = 0.01
	maxCompanions = 2
	maxVarying    = 3 // findings that monitors are compared with
)

// companions sets the monitors that go with the findings that
// are not true all the time.
func (s *searcher) companions(r *sampledata.Recording, all []*candidate) {
	var varying []*candidate
	for _, c := range all {
		if !c.f.When.Always && c.observed != nil && len(varying) < maxVarying {
			varying = append(varying, c)
		}
	}
	if len(varying) == 0 || len(r.Series) == 0 {
		return
	}
	t := metrics.New(r, metrics.Options{Views: s.o.Views})
	list := metrics.NewList(r.Samples.Len())
	for i := s.e.from; i < s.e.to; i++ {
		list.Add(int(i))
	}
	for i := range r.Series {
		name := r.Series[i].Name
		if r.Series[i].Kind == sampledata.Counter {
			name = "rate(" + name + ")"
		}
		m, err := t.Numbers(name)
		if err != nil {
			continue // it has words for values
		}
		if !risesAndFalls(m.Column[s.e.from:s.e.to]) {
			continue // a peak, for example, goes with all that begins late
		}
		for _, c := range varying {
			got := metrics.Correlate(m.Column, s.column(c, r), list)
			if got.Pearson >= minR && got.P*float64(len(r.Series)) < chanceR &&
				!got.NearlyConstant {
				c.f.With = append(c.f.With, Companion{name, got.Pearson})
			}
		}
	}
	for _, c := range varying {
		slices.SortStableFunc(c.f.With, func(a, b Companion) int { return cmp.Compare(b.R, a.R) })
		c.f.With = c.f.With[:min(len(c.f.With), maxCompanions)]
	}
}

// risesAndFalls reports whether a column does both.
func risesAndFalls(c metrics.Column) bool {
	rises, falls := false, false
	for i := 1; i < len(c); i++ {
		rises, falls = rises || c[i] > c[i-1], falls || c[i] < c[i-1]
	}
	return rises && falls
}

// column returns what was observed of a candidate, as a column
// over all samples of the recording.
func (s *searcher) column(c *candidate, r *sampledata.Recording) metrics.Column {
	column := slices.Repeat(metrics.Column{math.NaN()}, r.Samples.Len())
	for i, o := range c.observed {
		column[int(s.e.from)+i] = o.Hits
	}
	return column
}
