package calls

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/cpprof/cpprof/internal/edit"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A Call is one activation of a function by one goroutine. If
// the function calls itself, it is the outermost activation.
type Call struct {
	Goroutine sampledata.GoroutineID `json:"-"`         // if Sampled
	ID        int64                  `json:"goroutine"` // its number in the target
	First     int32                  `json:"-"`         // the samples in it; see Sampled
	Last      int32                  `json:"-"`
	Begin     time.Duration          `json:"begin_ns"`
	End       time.Duration          `json:"-"`

	// Took is how long it took. If it is not whole, it took at
	// least the least time.
	Took Range `json:"-"`

	// It was under way when the recording began, or when it
	// ended, or a window in which calls were timed.
	CutBegin bool `json:"cut_begin,omitempty"`
	CutEnd   bool `json:"cut_end,omitempty"`

	// One sample has it: it took less than two intervals, and
	// how long is not known.
	Short bool `json:"short,omitempty"`

	// It may be several calls that followed one another: the
	// goroutine came back to a wait, or was in the function in
	// all samples of it, and ran. A loop in the function looks
	// the same.
	Several bool `json:"-"`

	Site   sampledata.Call `json:"-"`                // that made the call; empty for a goroutine's first function
	Label  string          `json:"label,omitempty"`  // that a source other than samples gave it
	Values []int64         `json:"values,omitempty"` // of Table.Arguments
}

// Length returns how long the call took, as estimated: its ends
// are halfway between samples.
func (c *Call) Length() time.Duration { return c.End - c.Begin }

// bound returns how long the call took at most; at least, if it
// is not whole.
func (c *Call) bound() time.Duration {
	if c.Whole() {
		return c.Took.Most
	}
	return c.Took.Least
}

// A Range is a time that is known to be between two.
type Range struct {
	Least time.Duration `json:"least_ns"`
	Most  time.Duration `json:"most_ns,omitempty"` // 0: not known
}

// Whole reports whether the recording has the call from begin to end.
func (c *Call) Whole() bool { return !c.CutBegin && !c.CutEnd }

// A Table has the calls of a function.
type Table struct {
	Function  string   `json:"function"`
	Calls     []Call   `json:"-"`              // by what is known of their lengths, the longest first
	Source    Source   `json:"source"`         // the best one that the recording has
	Note      string   `json:"note,omitempty"` // what the source can't tell, for a person
	Arguments []string `json:"arguments,omitempty"`

	// How long calls were timed, in a number of windows. Of
	// samples, that is all of the recording.
	Covered       time.Duration `json:"covered_ns"`
	LongestWindow time.Duration `json:"-"`
	Windows       int           `json:"windows"`

	// Interval is the mean time from one sample to the next.
	// Both ends of a call are known to within one interval.
	Interval time.Duration `json:"interval_ns"`
	Duration time.Duration `json:"duration_ns"` // of the recording, or its part in the Span

	// Span is when the calls began. The zero Span is all of the recording.
	Span views.Span `json:"-"`

	// Touching is the share of the time in calls, but for first
	// ones, before which the goroutine had been outside in one
	// sample only. If it is large, there were calls between
	// which the goroutine was never seen outside: they count as
	// one.
	Touching float64 `json:"touching"`

	// Chance is the share of the samples in calls of several
	// samples that are as long as chance makes calls look: if
	// each took less than an interval, and samples hit the
	// function as often as they do. Such calls are likely to be
	// several. ByChance is the greatest number of samples of
	// one.
	Chance   float64 `json:"chance"`
	ByChance int     `json:"-"`

	// Several is the share of the time in calls that may be
	// several for what they show themselves.
	Several float64 `json:"several_share"`

	recording *sampledata.Recording
	windows   []sampledata.CallWindow // in which calls were timed; none: all the time
	functions []bool                  // by FunctionID: they have the name
	outermost []sampledata.NodeID     // by node: the outermost frame of the function, NoStack for none
	whole     []*Call                 // the shortest first
}

const (
	// touching is the share of the time in calls before which
	// samples hardly saw the goroutine outside, from which some
	// are likely to be several.
	touching = 0.3
	byChance = 0.6 // the same of Chance
)

// Merges reports whether some calls are likely to be several
// that followed one another.
func (t *Table) Merges() bool { return t.Touches() || t.Chance >= byChance || t.Repeats() }

// Repeats reports whether much of the time is in calls that may
// be several for what they show themselves.
func (t *Table) Repeats() bool { return t.Several >= touching }

// Touches reports whether that is likely by Touching.
func (t *Table) Touches() bool { return t.Touching >= touching }

// An UnknownError says that a recording has no function of a name.
type UnknownError struct {
	Function string
	Similar  []string
}

func (e *UnknownError) Error() string {
	text, hint := fmt.Sprintf("no sample has the function %q", e.Function),
		"it was not called, took too little time, or is inlined by another name"
	if key, isLabel := strings.CutPrefix(e.Function, labelPrefix); isLabel {
		text, hint = fmt.Sprintf("no goroutine has the label %q", key),
			"the program sets none of this key with pprof.Do"
	} else if !IsFunction(e.Function) {
		text, hint = fmt.Sprintf("there is no thread class %q", e.Function),
			"'cpprof classes' shows them"
	}
	if len(e.Similar) > 0 {
		hint = "did you mean " + e.Similar[0] + "?"
	}
	return text + ": " + hint
}

// Of finds the calls of a function in a recording that
// Recording.Check accepts. Calls before and after a span count,
// too.
func Of(r *sampledata.Recording, function string) (*Table, error) {
	switch {
	case r.Profile != nil:
		return nil, fmt.Errorf("%s has no times, and so no calls", r.Profile.Title)
	case r.Header.Sampler.Backend == sampledata.FromDump:
		return nil, fmt.Errorf("a dump shows a moment, and not how long a call takes")
	}
	t := &Table{Function: function, recording: r}
	timed := r.TimedCalls(function)
	show := t.stacks()
	if isFunction := t.findFunction(); timed == nil {
		other := t.marked()
		if !isFunction && other == nil {
			return nil, &UnknownError{function, edit.Similar(function, Functions(r))}
		}
		if other != nil {
			show = *other
		}
	}
	t.findFrames()
	if n := r.Samples.Len(); n > 0 {
		t.Duration = time.Duration(r.Weights().Of(0, n))
		t.Interval = t.Duration / time.Duration(n)
	}
	if timed != nil {
		t.take(timed)
	} else {
		t.Source = Samples
		t.sample(show)
		t.dropInherited()
	}
	t.cover(0, math.MaxInt64)
	if t.Source == Uprobes {
		t.addEndless(show)
	}
	t.sortCalls()
	return t, nil
}

// During returns the calls that begin in a span. Quantiles leave
// out all other calls.
func (t *Table) During(span views.Span) *Table {
	if span == (views.Span{}) {
		return t
	}
	in := *t
	in.Span = span
	to := cmp.Or(span.To, math.MaxInt64)
	in.Duration = max(0, min(t.Duration, to)-span.From)
	in.cover(span.From, to)
	in.Calls = slices.DeleteFunc(slices.Clone(t.Calls), func(c Call) bool {
		return c.Begin < span.From || span.To != 0 && c.Begin >= span.To
	})
	in.sortCalls()
	return &in
}

// cover sets for how much of a time calls were timed.
func (t *Table) cover(from, to time.Duration) {
	t.Windows, t.Covered, t.LongestWindow = 0, 0, 0
	windows := t.windows // a probe's may begin before the first sample, or end after the last one
	if len(windows) == 0 {
		windows = []sampledata.CallWindow{{From: from, To: min(to, from+t.Duration)}}
	}
	var longest, end time.Duration
	for _, w := range windows {
		w.From, w.To = max(w.From, from), min(w.To, to)
		if w.From >= w.To {
			continue
		}
		t.Covered += w.To - w.From
		if t.Windows == 0 || end < w.From {
			t.Windows, longest = t.Windows+1, 0
		}
		longest += w.To - w.From
		end = w.To
		t.LongestWindow = max(t.LongestWindow, longest)
	}
}

// sortCalls puts the longest calls first, and sums up those that
// may be several.
func (t *Table) sortCalls() {
	t.whole = nil
	several, all := time.Duration(0), time.Duration(0)
	for i := range t.Calls {
		if all += t.Calls[i].Length(); t.Calls[i].Several {
			several += t.Calls[i].Length()
		}
	}
	t.Several = float64(several) / float64(max(all, 1))
	slices.SortStableFunc(t.Calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(b.bound(), a.bound()), cmp.Compare(b.Length(), a.Length()))
	})
	for i := range slices.Backward(t.Calls) {
		if c := &t.Calls[i]; c.Whole() {
			t.whole = append(t.whole, c)
		}
	}
	slices.SortStableFunc(t.whole, func(a, b *Call) int { return cmp.Compare(a.Length(), b.Length()) })
}

// Functions returns the names of all functions that have been seen.
func Functions(r *sampledata.Recording) (list []string) {
	for _, t := range r.Calls {
		list = append(list, t.Function)
	}
	for _, f := range r.Functions {
		list = append(list, f.Name)
	}
	for _, set := range r.LabelSets {
		for _, l := range set {
			list = append(list, labelPrefix+l.Key)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// findFunction reports whether there is the function.
func (t *Table) findFunction() (any bool) {
	t.functions = make([]bool, len(t.recording.Functions))
	for i, f := range t.recording.Functions {
		t.functions[i] = f.Name == t.Function
		any = any || t.functions[i]
	}
	return any
}

// findFrames finds the outermost frame of the function in all stacks.
func (t *Table) findFrames() {
	t.outermost = make([]sampledata.NodeID, len(t.recording.Nodes))
	for n, node := range t.recording.Nodes { // callers come first
		t.outermost[n] = sampledata.NoStack
		if node.Parent != sampledata.NoStack {
			t.outermost[n] = t.outermost[node.Parent]
		}
		if t.outermost[n] == sampledata.NoStack && t.functions[node.Function] {
			t.outermost[n] = sampledata.NodeID(n)
		}
	}
}

// Whole returns the number of calls that the recording has from
// begin to end.
func (t *Table) Whole() int { return len(t.whole) }

// Short returns the number of whole calls in one sample.
func (t *Table) Short() (n int) {
	for i := range t.Calls {
		if t.Calls[i].Short && t.Calls[i].Whole() {
			n++
		}
	}
	return n
}

// Quantile returns the time that a share q of the whole calls do
// not exceed, as estimated. If this is the time of a short call,
// it is not known: timed is then false.
func (t *Table) Quantile(q float64) (length time.Duration, timed bool) {
	if len(t.whole) == 0 {
		return 0, false
	}
	c := t.whole[quantile(q, len(t.whole))]
	return c.Length(), !c.Short
}

// Between returns between which times the quantile is: no more
// than a share q of the whole calls took less than the least
// time, and that share took the greatest at most.
func (t *Table) Between(q float64) Range {
	n := len(t.whole)
	if n == 0 {
		return Range{}
	}
	at := func(bound func(Range) time.Duration) time.Duration {
		all := lists.Each(t.whole, func(c *Call) time.Duration { return bound(t.Within(c)) })
		slices.Sort(all)
		return all[quantile(q, n)]
	}
	return Range{at(func(r Range) time.Duration { return r.Least }),
		at(func(r Range) time.Duration { return r.Most })}
}

// leastWhole is how many calls are seen from begin to end, at least, if
// samples say how long calls take.
const leastWhole = 5

// TellsTimes reports whether the whole calls say how long calls take.
// What samples show of the others is cut: they are longer.
func (t *Table) TellsTimes() bool {
	whole := t.Whole()
	return whole > 0 && (t.Source != Samples || whole >= max(leastWhole, len(t.Calls)-whole))
}

// Within returns how long a call took, which may be several.
func (t *Table) Within(c *Call) Range {
	if t.MayBeSeveral(c) {
		return Range{0, c.Took.Most}
	}
	return c.Took
}

// MayBeSeveral reports whether a call may be several that
// followed one another.
func (t *Table) MayBeSeveral(c *Call) bool {
	return c.Several || t.Touches() || t.Chance >= byChance && int(c.Last-c.First) < t.ByChance
}

// quantile returns the number of the call at a quantile, of n.
func quantile(q float64, n int) int {
	return min(n-1, max(0, int(math.Ceil(q*float64(n)))-1))
}

// Longest returns the time of the longest whole call.
func (t *Table) Longest() (length time.Duration, timed bool) { return t.Quantile(1) }
