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
	locate := func(c sampledata.Call) *profile.Location {
		id := uint64(len(p.Location) + 1)
		f := &profile.Function{ID: id, Name: c.Function, SystemName: c.Function, Filename: c.File}
		l := &profile.Location{ID: id, Line: []profile.Line{{Function: f, Line: int64(c.Line)}}}
		p.Function, p.Location = append(p.Function, f), append(p.Location, l)
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
	err := p.Compact().Write(&b) // each function and location once
	return b.Bytes(), err
}
