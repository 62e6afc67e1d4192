package why

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A waitKey identifies waits that are one hypothesis: all waits of a kind in
// one function of the program, whoever calls it.
type waitKey struct {
	kind     Kind
	function string
}

// waitKinds are the kinds of waits. Others are not slow: sleeping is deliberate, and to wait for other goroutines to end
// leads to what those do, which has hypotheses of its own.
var waitKinds = map[Activity]Kind{
	Sending: ChannelKind, Receiving: ChannelKind, Conditional: ConditionKind, IO: IOKind, CallsKernel: BlockingKind,
}

// waitCandidates returns a hypothesis for each function of the program in which goroutines wait.
func (s *searcher) waitCandidates() (all []*candidate) {
	groups := make(map[waitKey]sums)
	for i := range s.e.situations {
		at := &s.e.situations[i]
		k, ok := s.waitKey(at)
		if !ok {
			continue
		}
		if groups[k] == nil {
			groups[k] = make(sums)
		}
		groups[k][at.class] += at.weight
	}
	for k, by := range groups {
		of := func(at *situation) bool {
			other, ok := s.waitKey(at)
			return ok && other == k
		}
		f := &Finding{Kind: k.kind, key: key(k.kind, k.function), specific: k.kind.row().specific}
		c := s.suffering(f, by, of)
		class := by.most()
		c.note = cmp.Or(s.standsStill(class, of), s.resting(f, class), s.leadsOn(c, by[class]))
		c.refine = func(f *Finding) string { return s.refineWait(f, class, of) }
		all = append(all, c)
	}
	return all
}

// waitKey returns the hypothesis that a situation belongs to, if it is a wait.
func (s *searcher) waitKey(at *situation) (waitKey, bool) {
	if at.state.Stack == sampledata.NoStack || s.e.classes[at.class].runtimes || !at.waits() {
		return waitKey{}, false
	}
	kind, ok := waitKinds[s.e.activity(at)]
	return waitKey{kind, s.e.places.at(at.state.Stack)}, ok
}

// resting returns why goroutines of a class that wait are not slow, or "".
func (s *searcher) resting(f *Finding, class int32) string {
	c := &s.e.classes[class]
	outside := f.Kind == IOKind || f.Kind == BlockingKind
	reads := views.WaitingFor(f.Reason) != views.Sending && !writes(f.Where.Library)
	switch {
	case outside && 2*c.sleeps > c.life-c.active && c.sleeps > 0.02*c.life:
		return "a timer drives it, and nobody is known to wait for it"
	case f.Kind == IOKind && reads && readsRequests(f.Where.Path):
		return "it may wait for requests"
	case outside && reads && s.isLoop(class, f.Where.Function):
		return "it may wait for work"
	case f.Kind == IOKind && s.e.mean(c.active) < 1.5 && c.ended < 3:
		return "it is one goroutine, and nobody is known to wait for it"
	}
	return ""
}

// leadsOn returns a note if most of what a candidate's share counts is in functions that it calls: these are hypotheses of their
// own.
func (s *searcher) leadsOn(c *candidate, own float64) string {
	if own < 0.5*s.mean(c.asks)*s.e.length {
		return "most of it is in functions that it calls"
	}
	return ""
}

// writing matches the functions of the standard library that write to files and connections, or open them.
var writing = regexp.MustCompile(`\.(\w*Write\w*|Sync|Flush|Dial\w*|Connect|dial\w*|Open\w*|Close|SendFile|sendFile|ReadFrom|Handshake\w*)$`)

func writes(library string) bool { return writing.MatchString(library) }

// reading matches the names of functions that wait for requests.
var reading = regexp.MustCompile(`(?i)^(read|recv|receive|next|accept|scan|decode|parse|fetch|poll|listen|wait|serve|handle|loop|run|process|main|func\d)|(loop|reader|scan|recv|conn|serve)$`)

// readsRequests reports whether a goroutine that reads from a connection
// probably waits for a request. All functions on the path then have names as
// in a server's loop.
func readsRequests(path []string) bool {
	for _, f := range path {
		name := f[strings.LastIndexByte(f, '.')+1:]
		if views.IsOwn(f) && !reading.MatchString(name) {
			return false
		}
	}
	return true
}

// isLoop reports whether a function is the loop of a class: all that the class does, it does there or below.
func (s *searcher) isLoop(class int32, function string) bool {
	within := 0.0
	for _, at := range s.members(class) {
		if s.e.places.above(at.state.Stack, func(f string) bool { return f == function }) {
			within += at.weight
		}
	}
	return within >= 0.99*s.e.classes[class].life
}

// refineWait finds out what the goroutines do that others wait for.
func (s *searcher) refineWait(f *Finding, class int32, of func(*situation) bool) (note string) {
	f.Causes = s.e.blame(of)
	own := 0.0 // waiting for goroutines of the class itself: they share something
	for _, c := range f.Causes {
		if c.Class == f.Class {
			own += c.Share
		}
	}
	if f.Kind == IOKind || f.Kind == BlockingKind {
		return ""
	}
	receives := views.WaitingFor(f.Reason) != views.Sending
	if receives && own < 0.5 && s.isLoop(class, f.Where.Function) {
		return "it may wait for work"
	}
	if len(f.Causes) == 0 {
		side := Sending
		if receives {
			side = Receiving
		}
		f.Causes = s.e.peers(of, side)
	}
	if len(f.Causes) == 0 {
		f.Causes = s.e.fellows(class, of)
	}
	return ""
}
