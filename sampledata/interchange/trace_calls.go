package interchange

import (
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"golang.org/x/exp/trace"
)

// A task is a user's task that has not ended.
type task struct {
	name  string
	by    trace.GoID
	begin trace.Time
	site  sampledata.Call
}

// leaveRegion ends a region of a goroutine. Of regions with one
// name, the outermost is a call.
func (t *tracer) leaveRegion(g *traced, r *region, end trace.Time, cut bool) {
	first := g.regions[max(0, slices.IndexFunc(g.regions,
		func(one region) bool { return one.name == r.name }))]
	if r.name != "" && first.begin == r.begin {
		t.called("region:"+r.name, g.id, r.begin, end, cut, r.site)
	}
}

// called adds a call, if it is within the part to keep.
func (t *tracer) called(function string, by trace.GoID, begin, end trace.Time, cut bool,
	site sampledata.Call) {
	c := sampledata.TimedCall{Goroutine: int64(by), Begin: t.at(begin), End: t.at(end), Site: site}
	from, to := begin.Sub(t.begin), end.Sub(t.begin)
	c.CutBegin, c.CutEnd = from < c.Begin, cut || to > c.End
	if to >= t.from && (t.to <= 0 || from <= t.to) {
		t.timed.Calls(sampledata.CallTable{Function: function, Source: sampledata.CallsByTrace,
			Calls: []sampledata.TimedCall{c}})
	}
}

// siteOf returns the program's own place of an event.
func siteOf(ev *trace.Event) (c sampledata.Call) {
	for f := range ev.Stack().Frames() {
		if !strings.HasPrefix(f.Func, "runtime/trace.") {
			return sampledata.Call{Function: f.Func, File: f.File, Line: int32(min(f.Line, 1<<30))}
		}
	}
	return c
}
