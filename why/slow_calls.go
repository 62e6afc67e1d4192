package why

import (
	"cmp"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calls"
)

// SlowCalls are the slowest calls of a function beside the others.
type SlowCalls struct {
	Function  string        `json:"function"`
	Condition string        `json:"condition"`
	Source    calls.Source  `json:"source"`
	Calls     int           `json:"calls"`             // that are slow
	Share     float64       `json:"share"`             // of the calls that were seen
	Least     time.Duration `json:"least_ns"`          // that a slow one takes
	Usual     time.Duration `json:"usual_ns"`          // half of all calls take this long at most
	Several   bool          `json:"several,omitempty"` // slow ones may be several each
	More      calls.Common  `json:"-"`                 // what the slow ones have more of
	Period    time.Duration `json:"period_ns,omitempty"`
}

const (
	maxProposed = 3   // functions, if no calls were timed
	timesSlower = 3   // the slow ones take this many times as long as half of all
	minMore     = 0.2 // of the time of slow calls, that the others don't spend so
	leastFew    = 3   // calls that are slow, too few to say why
)

var slowest, _ = calls.ParseCondition(">= p99")

// findSlowCalls adds a finding for each function a few of whose
// calls are slow for a reason of their own. A part of a
// recording has no calls of its own.
func (a *searched) findSlowCalls(r *sampledata.Recording) error {
	if a.o.Views.Span != (views.Span{}) || r.Picked != nil || r.Restricted != nil {
		return nil
	}
	tables, err := callTables(r, a.o.Views)
	if err != nil {
		return err
	}
	for _, t := range tables {
		f, err := a.slowCalls(t)
		if err != nil {
			return err
		}
		a.fewSlow(t)
		if f != nil && !slices.ContainsFunc(a.Findings, f.Slow.isPartOf) {
			a.Findings = append(a.Findings, f)
		}
	}
	return nil
}

// callTables returns the calls that were timed or, if there are
// none, the calls of functions that are pieces of work.
func callTables(r *sampledata.Recording, o views.Options) (list []*calls.Table, err error) {
	seen := make(map[string]bool)
	for i := range r.Calls {
		function := r.Calls[i].Function
		if seen[function] {
			continue
		}
		seen[function] = true
		t, err := calls.Of(r, function)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	if len(list) > 0 || r.Header.Sampler.Backend == sampledata.FromDump {
		return list, nil
	}
	proposed, err := calls.Propose(r, o)
	for _, p := range proposed[:min(len(proposed), maxProposed)] {
		if !p.Touches() {
			list = append(list, p.Table)
		}
	}
	return list, err
}

// leastSlow returns what a slow call takes at least.
func leastSlow(t *calls.Table) time.Duration {
	usual, timed := t.Quantile(0.5)
	least := timesSlower * usual
	if !timed {
		least = 2 * usual
	}
	if t.Source == calls.Samples {
		least = max(least, seenLong(t))
	}
	return least.Round(time.Millisecond)
}

// maxDoubtful is the share of the slow calls that may be in one
// or two samples. One may.
const maxDoubtful = 0.1

// isDoubtful reports whether a call is in one or two samples.
func isDoubtful(c *calls.Call) bool { return c.Last <= c.First+1 }

// tooDoubtful reports whether too many of some calls are.
func tooDoubtful(doubtful, all int) bool {
	return float64(doubtful) > max(1, maxDoubtful*float64(all))
}

// seenLong returns the time from which nearly all calls are in
// three samples or more. One in one sample may have taken a
// moment, and one in two may have been two calls, though a pause
// of the sampler makes them look long.
func seenLong(t *calls.Table) time.Duration {
	whole := wholeCalls(t, 0)
	if len(whole) == 0 {
		return 0
	}
	slices.SortStableFunc(whole, func(a, b *calls.Call) int { return cmp.Compare(b.Length(), a.Length()) })
	doubtful, from := 0, whole[0].Length()+time.Millisecond
	for i, c := range whole {
		if isDoubtful(c) {
			doubtful++
		}
		last := i == len(whole)-1 || whole[i+1].Length() < c.Length() // of its length
		if last && !tooDoubtful(doubtful, i+1) {
			from = c.Length()
		}
	}
	return from
}

// areDoubtful reports whether too many calls that took a time or
// longer are in one or two samples.
func areDoubtful(t *calls.Table, from time.Duration) bool {
	slow := wholeCalls(t, from)
	return tooDoubtful(lists.Count(slow, isDoubtful), len(slow))
}

// slowCalls returns a finding; nil if the slow calls are too
// few, or not slow for a reason that is known.
func (a *searched) slowCalls(t *calls.Table) (*Finding, error) {
	least := leastSlow(t)
	if longest, _ := t.Longest(); t.Whole() < calls.LeastSlow || longest < least {
		return nil, nil
	}
	slow := calls.Slowest
	if bound, _ := t.Quantile(0.99); bound >= least { // calls that take as long are slow, too
		slow = slowest
	}
	c, err := t.Contrast(slow, a.o.Views)
	if err == nil && t.Source == calls.Samples && (c.TooFew() || areDoubtful(t, c.Slow.Shortest)) {
		// short calls are mostly not seen: those that are slow
		// are more than 1 %, and the longest may be doubtful
		if slow, err = calls.ParseCondition(">= " + least.String()); err == nil {
			c, err = t.Contrast(slow, a.o.Views)
		}
	}
	if err != nil || c.TooFew() || c.Slow.Shortest < least || len(c.More) == 0 ||
		c.More[0].Difference.Low < minMore {
		return nil, err
	}
	s := &SlowCalls{Function: t.Function, Condition: slow.String(), Source: t.Source, More: c.More[0]}
	from := s.set(t, c.Slow.Shortest)
	if s.Least < s.Usual {
		return nil, nil // they may take no longer than the others
	}
	begins := lists.Each(from, func(call *calls.Call) time.Duration { return call.Begin })
	mean := total(from).Seconds() / max(1e-9, t.Covered.Seconds())
	s.Period = period(begins, c.Slow.Shortest)
	return &Finding{Kind: SlowKind, Slow: s, Share: s.More.Slow, Mean: mean, Severity: mean,
		Where: Place{Function: t.Function}, When: When{Always: true}, specific: SlowKind.row().specific,
		key: key(SlowKind, t.Function)}, nil
}

// set says how many calls took a time or longer, and how long, as
// far as is known but for the doubtful ones. It returns them.
func (s *SlowCalls) set(t *calls.Table, from time.Duration) []*calls.Call {
	slow := wholeCalls(t, from)
	several, sure := 0, 0
	for _, c := range slow {
		if t.MayBeSeveral(c) {
			several++
		}
		if t.Source == calls.Samples && isDoubtful(c) {
			continue
		}
		if sure == 0 || c.Took.Least < s.Least {
			s.Least = c.Took.Least
		}
		sure++
	}
	s.Calls, s.Share = len(slow), float64(len(slow))/float64(t.Whole())
	s.Several = tooDoubtful(several, len(slow))
	s.Usual = t.Between(0.5).Most
	return slow
}

// wholeCalls returns the calls that the recording has from begin
// to end, and that took a time or longer.
func wholeCalls(t *calls.Table, from time.Duration) (list []*calls.Call) {
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Whole() && c.Length() >= from {
			list = append(list, c)
		}
	}
	return list
}

// total returns the time of some calls.
func total(list []*calls.Call) time.Duration { return lists.Sum(list, (*calls.Call).Length) }

// fewSlow notes a function with some calls that are slow, and
// make a third of the time in it, but too few to say why. What was
// not timed, and may wait for work, such as the goroutine of a
// timer, is not slow.
func (a *searched) fewSlow(t *calls.Table) {
	rests := func(h Hypothesis) bool {
		return (h.Note == forWork || h.Note == livesOnce) && h.Where == t.Function
	}
	if a.Few != nil || t.Source == calls.Samples && slices.ContainsFunc(a.Hypotheses, rests) {
		return
	}
	s := &SlowCalls{Function: t.Function, Source: t.Source}
	slow := s.set(t, leastSlow(t))
	if s.Calls >= leastFew && s.Calls < calls.LeastSlow && 3*total(slow) > total(wholeCalls(t, 0)) {
		a.Few = s
	}
}

// isPartOf reports whether a finding says already what the slow
// calls have more of.
func (s *SlowCalls) isPartOf(f *Finding) bool {
	if f.Slow != nil {
		return f.Slow.Calls == s.Calls && f.Slow.More.Function == s.More.Function // one calls the other
	}
	if s.More.Lock != "" {
		return f.Lock == s.More.Lock
	}
	return (s.More.Kind == calls.Does || s.More.Kind == calls.HeldBy) && f.Where.Function == s.More.Function
}

// period returns the time after which a thing happens again,
// given when it did, or 0: at least four times, each as long
// after the one before, up to a fifth. What happens within a
// time of itself happens once.
func period(times []time.Duration, once time.Duration) time.Duration {
	slices.Sort(times)
	var gaps []time.Duration
	first := 0
	for i := 1; i < len(times); i++ {
		if times[i]-times[i-1] > once {
			gaps = append(gaps, times[i]-times[first])
			first = i
		}
	}
	if len(gaps) < 3 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(gaps))
	median := sorted[len(sorted)/2]
	if sorted[0] < median*4/5 || sorted[len(sorted)-1] > median*6/5 {
		return 0
	}
	return median
}
