package agent

import (
	"bytes"
	"fmt"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/google/pprof/profile"
)

// leaks makes the profile of goroutines that are stuck for good,
// in the form of Go's own profile of that name: a stack with the
// number of its goroutines.
func leaks(r *sampledata.Recording) ([]byte, error) {
	m := r.Marking
	kind := &profile.ValueType{Type: string(GoroutineLeak), Unit: "count"}
	p := &profile.Profile{SampleType: []*profile.ValueType{kind}, PeriodType: kind, Period: 1,
		TimeNanos: r.Header.Start.Add(m.Time).UnixNano()}
	known := map[sampledata.Call]*profile.Location{}
	functions := map[[2]string]*profile.Function{}
	locate := func(c sampledata.Call) *profile.Location {
		if known[c] != nil {
			return known[c]
		}
		f := functions[[2]string{c.Function, c.File}]
		if f == nil {
			f = &profile.Function{ID: uint64(len(p.Function) + 1), Name: c.Function,
				SystemName: c.Function, Filename: c.File}
			functions[[2]string{c.Function, c.File}] = f
			p.Function = append(p.Function, f)
		}
		l := &profile.Location{ID: uint64(len(p.Location) + 1),
			Line: []profile.Line{{Function: f, Line: int64(c.Line)}}}
		known[c] = l
		p.Location = append(p.Location, l)
		return l
	}
	for i := range m.Groups {
		g := &m.Groups[i]
		if g.Verdict != sampledata.Stuck {
			continue
		}
		s := &profile.Sample{Value: []int64{int64(g.Count)}}
		for _, c := range g.Calls {
			s.Location = append(s.Location, locate(c))
		}
		p.Sample = append(p.Sample, s)
	}
	if err := p.CheckValid(); err != nil {
		return nil, fmt.Errorf("making the profile of goroutines that are stuck: %w", err)
	}
	var b bytes.Buffer
	err := p.Write(&b)
	return b.Bytes(), err
}
