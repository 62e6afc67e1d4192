package why

import (
	"cmp"
	"math"
	"slices"

	"github.com/cpprof/cpprof/views"
)

// Goroutines that are at work nearly all the time, one at a time, bound what all others get
// (Denning and Buzen, The operational analysis of queueing network models,
// 1978: a server whose utilization is near 1). If it is not known who ends a
// wait, it may be a wait for these.

// saturation is the share of the time from which a server is saturated.
const saturation = 0.75

// saturated is the sign of a finding about such goroutines, if there are waits
// that nobody is known to end.
const saturated = "it is at work most of the time, one thing after another: others may wait for it"

// saturates reports whether a finding is what a saturated server does: work, or
// a wait for what is outside of the program.
func (a *searched) saturates(f *Finding) bool {
	switch f.Kind {
	case ComputeKind, SystemCallKind, IOKind, BlockingKind, ForeignKind, SleepKind:
	case ChannelKind:
		if !f.Where.inRoundTrip() {
			return false
		}
	default:
		return false
	}
	class, ok := a.e.byName[f.Class]
	if !ok || a.e.classes[class].ends() {
		return false
	}
	active := a.e.mean(a.e.classes[class].active)
	return active < 1.5 && f.Mean >= saturation*max(1, active)
}

// unexplained reports whether a finding is a wait that nobody is known to end.
// Others of its class that are further on are no more than a guess.
func (f *Finding) unexplained() bool {
	return (f.Kind == ChannelKind || f.Kind == ConditionKind) &&
		!f.limits() && f.Bound == nil && !f.Where.inRoundTrip() &&
		!slices.ContainsFunc(f.Causes, func(c Cause) bool { return c.Certainty != Fellow })
}

// order puts the findings first that cost most. A wait that nobody is known to
// end comes after saturated servers, which may be the reason.
func (a *searched) order() {
	least := math.Inf(1) // the rank of the last server
	for _, f := range a.Findings {
		if a.saturates(f) {
			least = min(least, f.rank())
		}
	}
	rank := func(f *Finding) float64 {
		if f.unexplained() {
			return min(f.rank(), math.Nextafter(least, 0))
		}
		return f.rank()
	}
	slices.SortStableFunc(a.Findings, func(x, y *Finding) int {
		return cmp.Or(cmp.Compare(rank(y), rank(x)), cmp.Compare(y.rank(), x.rank()),
			cmp.Compare(x.key, y.key))
	})
}

// rank orders findings: by severity, and by how specific they are.
func (f *Finding) rank() float64 { return f.Severity * f.specific }

// signServers adds the sign of saturated servers.
func (a *searched) signServers() {
	if !slices.ContainsFunc(a.Findings, (*Finding).unexplained) {
		return
	}
	for _, f := range a.Findings {
		if a.saturates(f) {
			f.Signs = append(f.Signs, saturated)
		}
	}
}

// writesAlone reports whether a candidate is no finding, since it is one
// goroutine that waits until it can write.
func (c *candidate) writesAlone() bool {
	return c.note == lonely && c.f.Kind == IOKind && writes(c.f.Where.Library)
}

// mayHoldUp reports whether others may wait for a goroutine that can't write,
// as a server's other clients do for a slow one: nobody is known to end their
// wait, and both are in code of one package.
func (f *Finding) mayHoldUp(other *Finding) bool {
	return other.unexplained() &&
		views.PackageOf(f.Where.Function) == views.PackageOf(other.Where.Function)
}

// leftAlone reports whether goroutines may wait for work in a function of their
// loop's module, since hardly anybody is at work whom they could wait for. What
// they call another module for may have to come from outside.
func (s *searcher) leftAlone(class int32, f *Finding) bool {
	at := &s.e.r.Nodes[s.e.places.own[f.Where.stack]]
	return f.Kind == ChannelKind && f.Where.Library == "" && s.e.classes[class].name == "go:"+f.Where.Caller &&
		s.modules.Of(at.Function) == s.modules.Of(s.e.r.Nodes[at.Parent].Function) && s.deserted(class, f)
}

// deserted reports whether hardly anybody is at work while goroutines of a class
// wait nearly all their life, and nobody is known to end that. Who waits for
// others does not count, nor who is no finding.
func (s *searcher) deserted(class int32, f *Finding) bool {
	if f.Limit != nil || len(f.Causes) > 0 || f.Severity < mostOf*s.e.mean(s.e.classes[class].life) {
		return false
	}
	weight := 0.0
	for i := range s.e.situations {
		at := &s.e.situations[i]
		if at.idle || s.e.classes[at.class].runtimes {
			continue
		}
		switch s.e.activity(at) {
		case Sending, Receiving, Selecting, Conditional, Joining, OtherWait:
			continue
		}
		rests := func(c *candidate) bool { return c.note != "" && c.note != lonely && c.asks.hit(at) }
		if !slices.ContainsFunc(s.all, rests) {
			weight += at.weight
		}
	}
	return s.e.mean(weight) < explains*min(1, f.Severity)
}
