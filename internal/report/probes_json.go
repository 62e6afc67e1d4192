package report

import (
	"io"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/why"
)

// ProbesJSON is what WriteJSON writes. Times are in nanoseconds.
type ProbesJSON struct {
	Probes []ProbeJSON `json:"probes"`
	Basis
}

// ProbeJSON is what was measured of one function.
type ProbeJSON struct {
	Function   string `json:"function"`
	File       string `json:"file,omitempty"`
	Line       int32  `json:"line,omitempty"`
	Instrument string `json:"instrument"` // none, uprobe, breakpoint
	Why        string `json:"why,omitempty"`
	Note       string `json:"note,omitempty"`
	FromNS     int64  `json:"from_ns"`
	ToNS       int64  `json:"to_ns"`
	Calls      uint64 `json:"calls"`
	// the instrument was taken out; there were more calls afterwards
	AtLeast    bool    `json:"at_least,omitempty"`
	PerSecond  float64 `json:"per_second"`
	Returned   uint64  `json:"returned"`
	Unfinished uint64  `json:"unfinished,omitempty"`
	Lost       uint64  `json:"lost,omitempty"`
	CostNS     int64   `json:"cost_ns"`

	Elapsed   *NumbersJSON   `json:"elapsed_ns,omitempty"`
	Samples   why.Probed     `json:"samples"`
	Sites     []SiteJSON     `json:"sites,omitempty"`
	Arguments []ArgumentJSON `json:"arguments,omitempty"`
}

// SiteJSON is a call site.
type SiteJSON struct {
	Caller  string       `json:"caller"` // "" for all others
	File    string       `json:"file,omitempty"`
	Line    int32        `json:"line,omitempty"`
	Calls   uint64       `json:"calls"`
	Elapsed *NumbersJSON `json:"elapsed_ns,omitempty"`
}

// ArgumentJSON has the values of an argument.
type ArgumentJSON struct {
	Name   string       `json:"name"`
	Kind   string       `json:"kind"` // value, length, pointer (0: nil, 1: not)
	Values *NumbersJSON `json:"values,omitempty"`
}

// NumbersJSON sums up a distribution of numbers.
type NumbersJSON struct {
	Count uint64  `json:"count"`
	Mean  float64 `json:"mean"`
	Min   int64   `json:"min"`
	P50   int64   `json:"p50"`
	P90   int64   `json:"p90"`
	P99   int64   `json:"p99"`
	Max   int64   `json:"max"`
}

func numbersJSON(d *sampledata.Distribution) *NumbersJSON {
	if len(d.Buckets) == 0 {
		return nil
	}
	return &NumbersJSON{d.Count(), d.Mean(), d.Min, d.Quantile(0.5), d.Quantile(0.9),
		d.Quantile(0.99), d.Max}
}

// WriteJSON writes all that was measured.
func (p *Probes) WriteJSON(w io.Writer) error {
	out := ProbesJSON{Probes: []ProbeJSON{}, Basis: BasisOf(p.Recording)}
	for i := range p.Recording.Probes {
		b := &p.Recording.Probes[i]
		one := ProbeJSON{
			Function: b.Function, File: b.File, Line: b.Line, Instrument: b.Instrument.String(),
			Why: b.Why, Note: b.Note,
			FromNS: int64(b.From), ToNS: int64(b.To), Calls: b.Calls, AtLeast: b.TakenOut,
			Returned: b.Returned, Unfinished: b.Unfinished,
			Lost: b.Lost, CostNS: int64(b.Cost), Elapsed: numbersJSON(&b.Elapsed),
			Samples: why.SamplesOf(p.Recording, b),
		}
		if d := b.To - b.From; d > 0 {
			one.PerSecond = float64(b.Calls) * float64(time.Second) / float64(d)
		}
		for i := range b.Sites {
			s := &b.Sites[i]
			one.Sites = append(one.Sites,
				SiteJSON{s.Caller, s.File, s.Line, s.Calls, numbersJSON(&s.Elapsed)})
		}
		for i := range b.Arguments {
			a := &b.Arguments[i]
			one.Arguments = append(one.Arguments,
				ArgumentJSON{a.Name, a.Kind.String(), numbersJSON(&a.Values)})
		}
		out.Probes = append(out.Probes, one)
	}
	return writeJSON(w, out)
}
