package why

import (
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// Goroutines that are at work nearly all the time, one at a
// time, bound what all others get (Denning and Buzen, The
// operational analysis of queueing network models, 1978: a
// server whose utilization is near 1). If it is not known who
// ends a wait, it may be a wait for these.

// saturation is the share of the time from which a server is saturated.
const saturation = 0.75

// mainPart is the part of a server's work that a finding has at
// least to be why others wait for it.
const mainPart = 1. / 3

// saturated is the sign of a finding about such goroutines, if
// there are waits that nobody is known to end. If they are
// several, it is inTurns.
const (
	saturated = "it is at work most of the time, one thing after another: others may wait for it"
	inTurns   = "most of the time, one of them is at work, and hardly ever two: others may wait for it"
)

// inOrder is the sign of one goroutine of a library that calls the
// program for one thing after another.
const inOrder = "one goroutine of a library handles one thing after another: what comes next may wait for it"

// handlesInOrder reports whether a finding is about such a goroutine,
// which hardly rests, and was seen to go on.
func (s *searcher) handlesInOrder(f *Finding) bool {
	class := s.classOf(f)
	if class < 0 || len(f.Behind) > 0 || f.Kind == ChannelKind && !f.Where.inRoundTrip() {
		return false
	}
	c := &s.e.classes[class]
	if c.ended >= 3 || s.e.mean(c.life) >= 1.5 || s.e.mean(c.active) < saturation {
		return false
	}
	path, main := s.pathOf(f.Where.stack), s.modules.Main()
	ofMain := func(of sampledata.FunctionID) bool { return s.modules.Of(of) == main }
	return c.name == "go:"+s.e.r.Functions[path[0]].Name && !ofMain(path[0]) && slices.ContainsFunc(path, ofMain) &&
		s.staysIn(class, f.Where.Function) >= fewMoves
}

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
// handlers then wait because of it, unless both are in code of one
// package, as of a client that has one goroutine for all.
func (a *searched) mayServe(server, f *Finding) bool {
	asks := server.Kind == ChannelKind || server.Kind == IOKind
	may := !asks || !a.calledBack(f.Where.Path) || a.inLibraryOf(f, server)
	return f.unexplained() && f.Class != server.Class && may && (a.saturates(server) || a.coincides(f, server))
}

// inLibraryOf reports whether two findings are in one package, which is of
// a library.
func (s *searcher) inLibraryOf(f, other *Finding) bool {
	return views.PackageOf(f.Where.Function) == views.PackageOf(other.Where.Function) && s.ofLibrary(f)
}

func (s *searcher) ofLibrary(f *Finding) bool {
	n := s.e.places.own[f.Where.stack]
	return n != sampledata.NoStack && s.modules.Of(s.e.r.Nodes[n].Function) != s.modules.Main()
}

// saturates reports whether a finding is most of what a saturated
// server does. Several goroutines that work independently are
// none: often two work at once.
func (a *searched) saturates(f *Finding) bool {
	return a.isServer(f) && lists.Made(a.saturated, f, func() bool { return a.isSaturated(f) })
}

func (a *searched) isSaturated(f *Finding) bool {
	class := a.e.byName[f.Class]
	active := max(1, a.e.mean(a.e.classes[class].active))
	if a.observed(f) == nil { // of a phase
		return f.Mean >= saturation*active
	}
	hit := a.hits(f)
	work := question{hit: ofClass(class, func(at *situation) bool { return hit(at) || a.isAtWork(at) })}
	works, share := a.mean(work), shareOf(a.e.observe([]question{work})[0], always).Share
	return share >= saturation*active && share > mostOf*works && f.Mean >= mainPart*works
}

// shareOf returns the share of some samples that have a hit.
func shareOf(all []hotspots.Observation, in func(i int) bool) hotspots.Estimate {
	all = slices.Clone(all)
	for i, o := range all {
		all[i].Hits, all[i].Base = 0, 0
		if in(i) {
			all[i].Hits, all[i].Base = min(o.Hits, 1), 1
		}
	}
	return hotspots.Estimated(all, 1)
}

func always(int) bool { return true }

// coincides reports whether a server is at work in most of the
// samples in which goroutines wait as a finding says, and by
// more than chance.
func (a *searched) coincides(f, server *Finding) bool {
	waits, works := a.observed(f), a.observed(server)
	if !a.isServer(server) || waits == nil || works == nil {
		return false
	}
	then := shareOf(works, func(i int) bool { return waits[i].Hits > 0 })
	return then.Share >= 0.5 && then.Low > shareOf(works, always).Share
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
// more than a guess, and so are those that live as long.
func (f *Finding) unexplained() bool {
	return (f.Kind == ChannelKind || f.Kind == ConditionKind) &&
		!f.limits() && f.Bound == nil && !f.Where.inRoundTrip() &&
		!slices.ContainsFunc(f.Causes, func(c Cause) bool { return !c.Certainty.isGuess() })
}

// signServers adds the signs of servers that others may wait for, and
// of the waits that may be for one.
func (a *searched) signServers() {
	named := make(map[*Finding]bool)
	for _, f := range a.Findings {
		if h := a.inTurn(f); h != nil {
			named[f] = true
			f.Signs = append(f.Signs, "it may wait for what "+h.Class+", one at a time, waits for in "+h.Where)
		}
	}
	for _, server := range a.Findings {
		serves := false
		for _, f := range a.Findings {
			if !a.mayServe(server, f) {
				continue
			}
			if serves = true; !named[f] {
				named[f] = true
				f.Signs = append(f.Signs, "it may wait for what "+server.Class+" does in "+server.Where.Function)
			}
		}
		switch {
		case !serves:
		case a.saturates(server) && server.Alive > 1.5:
			server.Signs = append(server.Signs, inTurns)
		case a.saturates(server):
			server.Signs = append(server.Signs, saturated)
		default:
			server.Signs = append(server.Signs, coincident)
		}
	}
	for _, f := range a.Findings {
		if !named[f] {
			a.signGatherer(f)
		}
	}
}

// asksAlone reports whether a candidate is no finding, since it is one
// goroutine that asks a server, and rests at times.
func (c *candidate) asksAlone() bool { return c.note == asksLonely }

// mayBeFor reports whether a wait that nobody is known to end may be for
// who asks a server alone: it mostly does so while others wait.
func (s *searcher) mayBeFor(f *Finding, asks *candidate) bool {
	waits := s.observed(f)
	if f.Class == asks.f.Class || !f.unexplained() || waits == nil || asks.observed == nil {
		return false
	}
	return shareOf(asks.observed, func(i int) bool { return waits[i].Hits > 0 }).Share >= explains
}

// inTurn returns the wait of a library's goroutines that live for one piece
// of work each, one at a time, which others of the same package may wait
// for; nil if there is none, or others are known.
func (a *searched) inTurn(f *Finding) *Hypothesis {
	if !f.unexplained() || !a.ofLibrary(f) {
		return nil
	}
	i := slices.IndexFunc(a.Hypotheses, func(h Hypothesis) bool {
		if h.Verdict != hotspots.Yes || h.Note != livesOnce || h.Class == f.Class || views.PackageOf(h.Where) != views.PackageOf(f.Where.Function) {
			return false
		}
		each := a.e.observe([]question{{hit: ofClass(a.e.byName[h.Class], anywhere)}})[0]
		one := lists.Count(each, func(o hotspots.Observation) bool { return o.Hits == 1 })
		return float64(one) >= mostOf*float64(len(each))
	})
	if i < 0 {
		return nil
	}
	return &a.Hypotheses[i]
}

// writesAlone reports whether a candidate is no finding, since
// it is one goroutine that waits until it can write.
func (c *candidate) writesAlone() bool {
	return (c.note == lonely || c.note == notMoved) && c.f.Kind == IOKind && writes(c.f.Where.Library)
}

// mayHoldUp reports whether others may wait for a goroutine that
// can't write, as a server's other clients do for a slow one:
// nobody is known to end their wait, or they stand still, also for a
// lock whose holder waits for others, and both are in code of one package.
func (s *searcher) mayHoldUp(f, other *Finding) bool {
	if views.PackageOf(f.Where.Function) != views.PackageOf(other.Where.Function) {
		return false
	}
	outside := func(c Cause) bool { return c.waitsOutside() }
	return other.unexplained() || other.Kind == StandstillKind ||
		other.Kind == LockKind && !slices.ContainsFunc(other.Causes, outside) && s.stalls(other) >= isSign
}
