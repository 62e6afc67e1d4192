package calls

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// Source is what shows the calls.
type Source string

const (
	Samples Source = "samples"
	Uprobes Source = "uprobes"
	Trace   Source = "trace"
)

// take takes the calls that an instrument or a trace has timed.
// The samples between their ends say what the goroutine did.
func (t *Table) take(timed *sampledata.CallTable) {
	r := t.recording
	t.Source, t.Note, t.Arguments, t.windows = Uprobes, timed.Note, timed.Arguments, timed.Windows
	if timed.Source == sampledata.CallsByTrace {
		t.Source = Trace
	}
	byID := make(map[int64]sampledata.GoroutineID)
	for g, one := range r.Goroutines.All() {
		byID[one.ID] = g
	}
	for i := range timed.Calls {
		c := &timed.Calls[i]
		g, seen := byID[c.Goroutine]
		took := c.End - c.Begin
		call := Call{Goroutine: g, ID: c.Goroutine, Begin: c.Begin, End: c.End, Took: Range{took, took}, Site: c.Site,
			CutBegin: c.CutBegin, CutEnd: c.CutEnd, Label: c.Label, Values: c.Values,
			First: int32(r.Samples.Search(c.Begin)), Last: int32(r.Samples.Search(c.End)) - 1}
		if !seen {
			call.Last = call.First - 1
		}
		t.Calls = append(t.Calls, call)
	}
}

// addEndless adds the calls that neither began nor ended while probes
// timed all others: the samples show them.
func (t *Table) addEndless(show shows) {
	if !t.timesAll() {
		return
	}
	timed := make(map[int64]bool)
	for i := range t.Calls {
		timed[t.Calls[i].ID] = true
	}
	sampled := *t
	sampled.Calls = nil
	sampled.sample(show)
	for _, c := range sampled.Calls {
		if c.CutBegin && c.CutEnd && !timed[c.ID] {
			c.Several = false // no probe saw another one begin
			t.Calls = append(t.Calls, c)
		}
	}
}

// timesAll reports whether calls were timed from the first sample to
// the last one, and all were kept. Probes see no inlined ones.
func (t *Table) timesAll() bool {
	samples := t.recording.Samples
	n := samples.Len()
	inlined := slices.ContainsFunc(t.recording.Nodes, func(n sampledata.Node) bool { return n.Inlined && t.functions[n.Function] })
	return n > 0 && !inlined && t.Windows == 1 && t.Note == "" &&
		t.windows[0].From <= samples.Time(0) && t.windows[len(t.windows)-1].To >= samples.Time(n-1)
}

// Sampled reports whether samples show the call.
func (c *Call) Sampled() bool { return c.First <= c.Last }
