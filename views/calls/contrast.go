package calls

import (
	"fmt"
	"math"
	"time"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
)

// LeastSlow is the number of slow calls below which nothing is
// said of them.
const LeastSlow = 10

// A Contrast holds the slow calls of a function against the rest.
type Contrast struct {
	Slow, Rest Side
	More       []Common // what the slow ones have more of, the surest first
}

// A Side is some whole calls.
type Side struct {
	Calls             int
	Shortest, Longest time.Duration
	Total             time.Duration // length of all of them
	// Parts are shares of the time of the calls by what their
	// goroutines did.
	Parts [views.NumTypedTimes]hotspots.Estimate
}

// TooFew reports whether there are too few slow calls, or other
// ones, to say anything of them.
func (c *Contrast) TooFew() bool { return c.Slow.Calls < LeastSlow || c.Rest.Calls < LeastSlow }

// Contrast holds the calls for which a condition holds against
// the other ones. If there are too few, it only counts them.
func (t *Table) Contrast(slow Condition, o views.Options) (*Contrast, error) {
	chosen, rest := t.choose(slow)
	c := &Contrast{Slow: sideOf(chosen), Rest: sideOf(rest)}
	if c.TooFew() {
		return c, nil
	}
	o.Span = views.Span{}
	for _, s := range []struct {
		side  *Side
		calls []*Call
	}{{&c.Slow, chosen}, {&c.Rest, rest}} {
		var err error
		if s.side.Parts, err = t.parts(s.calls, o); err != nil {
			return nil, fmt.Errorf("calls of %s: %w", t.Function, err)
		}
	}
	c.More = newRanking(t, o).rank(chosen, rest)
	return c, nil
}

func sideOf(calls []*Call) (s Side) {
	s.Calls = len(calls)
	for i, c := range calls { // in the order of their bounds
		if s.Longest = max(s.Longest, c.Length()); i == 0 || c.Length() < s.Shortest {
			s.Shortest = c.Length()
		}
		s.Total += c.Length()
	}
	return s
}

const (
	// eachSlice is the number of samples that an observation has at least.
	eachSlice = 4
	// mostSlices limits the number of observations.
	mostSlices = 1000
)

// slices returns the number of observations of the recording,
// and of how many samples each is.
func (t *Table) slices() (n, each int) {
	samples := t.recording.Samples.Len()
	each = max(eachSlice, (samples+mostSlices-1)/mostSlices)
	return max(1, (samples+each-1)/each), each
}

// parts returns the typed time of calls, as shares of all their time.
func (t *Table) parts(calls []*Call, o views.Options) (parts [views.NumTypedTimes]hotspots.Estimate, err error) {
	n, each := t.slices()
	buckets, err := views.Timeline(t.recording.Restrict(t.Function, stretchesOf(calls)), o, n)
	if err != nil {
		return parts, err
	}
	observed := make([]hotspots.Observation, n)
	for typed := range parts {
		for i, b := range buckets {
			if b.Length == 0 {
				continue
			}
			length := float64(b.Length)
			hits, _ := b.Parts[typed].Float64()
			base, _ := b.Time.Float64()
			observed[i] = hotspots.Observation{Weight: length, Hits: hits / length, Base: base / length}
		}
		parts[typed] = hotspots.Estimated(observed, each)
	}
	return parts, nil
}

// near reports whether two shares are the same for a reader.
func near(a, b float64) bool { return math.Abs(a-b) < 0.015 }
