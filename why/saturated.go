package why

import (
	"slices"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
)

// Goroutines that are at work nearly all the time, one at a
// time, bound what all others get (Denning and Buzen, The
// operational analysis of queueing network models, 1978: a
// server whose utilization is near 1). If it is not known who
// ends a wait, it may be a wait for these.

// saturation is the share of the time from which a server is saturated.
const saturation = 0.75

// saturated is the sign of a finding about such goroutines, if
// there are waits that nobody is known to end. If they are
// several, it is inTurns.
const (
	saturated = "it is at work most of the time, one thing after another: others may wait for it"
	inTurns   = "most of the time, one of them is at work, and hardly ever two: others may wait for it"
)

// isServer reports whether a finding is about one goroutine at a
// time that does what others may wait for: work, or a wait for
// what is outside of the program.
func (a *searched) isServer(f *Finding) bool {
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
	return ok && !a.e.classes[class].ends() && a.e.mean(a.e.classes[class].active) < 1.5
}

// coincident is the sign of a finding about a server that rests otherwise.
const coincident = "others wait far more often while it is at work: they may wait for it"

// mayServe reports whether those who wait, nobody knows for
// whom, may wait for a server, by what it does and when. Whoever
// waits for an answer may have asked the program itself, whose
// handlers then wait because of it.
func (a *searched) mayServe(server, f *Finding) bool {
	asks := server.Kind == ChannelKind || server.Kind == IOKind
	return f.unexplained() && !(asks && a.calledBack(f.Where.Path)) &&
		(a.saturates(server) || a.coincides(f, server))
}

// saturates reports whether a finding is what a saturated server
// does. Several goroutines that work independently are none:
// often two work at once.
func (a *searched) saturates(f *Finding) bool {
	if !a.isServer(f) {
		return false
	}
	active, works := max(1, a.e.mean(a.e.classes[a.e.byName[f.Class]].active)), a.observed(f)
	if works == nil { // of a phase
		return f.Mean >= saturation*active
	}
	busy := slices.Clone(works)
	for i := range busy {
		busy[i].Hits, busy[i].Base = min(busy[i].Hits, 1), 1
	}
	share := hotspots.RatioOf(busy, 1).Value
	return share >= saturation*active && share > mostOf*f.Mean
}

// coincides reports whether a server is at work in most of the
// samples in which goroutines wait as a finding says, and by
// more than chance.
func (a *searched) coincides(f, server *Finding) bool {
	waits, works := a.observed(f), a.observed(server)
	if !a.isServer(server) || waits == nil || works == nil {
		return false
	}
	always, then := slices.Clone(works), slices.Clone(works)
	for i := range works {
		work, wait := min(works[i].Hits, 1), min(waits[i].Hits, 1)
		always[i].Hits, always[i].Base = work, 1
		then[i].Hits, then[i].Base = work*wait, wait
	}
	share := hotspots.Estimated(then, 1)
	return share.Share >= 0.5 && share.Low > hotspots.Estimated(always, 1).Share
}

// observed returns what was seen of a finding in each sample;
// nil if samples don't say.
func (s *searcher) observed(f *Finding) []hotspots.Observation {
	i := slices.IndexFunc(s.all, func(c *candidate) bool { return c.f == f })
	if i < 0 {
		return nil
	}
	return s.all[i].observed
}

// unexplained reports whether a finding is a wait that nobody is
// known to end. Others of its class that are further on are no
// more than a guess.
func (f *Finding) unexplained() bool {
	return (f.Kind == ChannelKind || f.Kind == ConditionKind) &&
		!f.limits() && f.Bound == nil && !f.Where.inRoundTrip() &&
		!slices.ContainsFunc(f.Causes, func(c Cause) bool { return c.Certainty != Fellow })
}

// signServers adds the signs of servers that others may wait for.
func (a *searched) signServers() {
	for _, server := range a.Findings {
		switch {
		case !slices.ContainsFunc(a.Findings, func(f *Finding) bool { return a.mayServe(server, f) }):
		case a.saturates(server) && server.Alive > 1.5:
			server.Signs = append(server.Signs, inTurns)
		case a.saturates(server):
			server.Signs = append(server.Signs, saturated)
		default:
			server.Signs = append(server.Signs, coincident)
		}
	}
}

// writesAlone reports whether a candidate is no finding, since
// it is one goroutine that waits until it can write.
func (c *candidate) writesAlone() bool {
	return (c.note == lonely || c.note == notMoved) && c.f.Kind == IOKind && writes(c.f.Where.Library)
}

// mayHoldUp reports whether others may wait for a goroutine that
// can't write, as a server's other clients do for a slow one:
// nobody is known to end their wait, or they stand still, and
// both are in code of one package.
func (f *Finding) mayHoldUp(other *Finding) bool {
	return (other.unexplained() || other.Kind == StandstillKind) &&
		views.PackageOf(f.Where.Function) == views.PackageOf(other.Where.Function)
}
