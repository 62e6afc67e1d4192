package why

import (
	"cmp"
	"maps"
	"regexp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A waitKey identifies waits that are one hypothesis: all waits
// of a kind in one function of the program, whoever calls it.
// What it asks the standard library for, such as the answer to a
// request, is another wait than the one at its own channels.
type waitKey struct {
	kind     Kind
	function string
	asked    string // of the library; "" if it waits itself
}

// waitKinds are the kinds of waits.
var waitKinds = map[Activity]Kind{
	Joining: GroupKind, Sleeping: SleepKind, Sending: ChannelKind, Receiving: ChannelKind,
	Selecting:   ChannelKind,
	Conditional: ConditionKind, IO: IOKind, CallsKernel: BlockingKind, InC: ForeignKind,
}

// waitCandidates returns a hypothesis for each function of the program in
// which goroutines wait.
func (s *searcher) waitCandidates() (all []*candidate) {
	groups := grouped(s.e, s.waitKey)
	apart := make(map[waitKey][]string)
	for k := range groups {
		if itself := (waitKey{kind: k.kind, function: k.function}); k != itself {
			apart[itself] = append(apart[itself], k.asked)
		}
	}
	for k, by := range groups {
		all = append(all, s.waitsOf(k, slices.Sorted(slices.Values(apart[k])), by, mostClasses))
	}
	return all
}

// mostClasses limits the classes whose waits in one function are judged.
const mostClasses = 5

// waitsOf makes a candidate for the waits of some classes in one
// function, apart from those in some libraries that it calls. If
// the class that waits most is found to wait, and
// that is no problem, the waits of others may be one. Most is
// how many are judged.
func (s *searcher) waitsOf(k waitKey, apart []string, by sums, most int) *candidate {
	of := func(at *situation) bool {
		other, ok := s.waitKey(at)
		return ok && other == k
	}
	class := by.most()
	f := newFinding(k.kind, k.function, k.asked)
	f.Asked, f.apart = k.asked, apart
	if most < mostClasses {
		f.key = key(k.kind, k.function, k.asked, s.e.classes[class].name)
	}
	c := s.suffering(f, by, of)
	f.apart = slices.DeleteFunc(slices.Clone(apart), func(library string) bool {
		return !slices.ContainsFunc(s.members(class), func(at *situation) bool {
			return slices.Contains(f.reasons, at.state.Reason) && s.on(at, f.Where.Function) &&
				s.on(at, library)
		})
	})
	if below := 1 - by[class]/max(by[class], s.mean(c.asks)*s.e.length); below >= minBelow {
		f.Below = below
	}
	if k.kind == BlockingKind {
		f.Calls = s.kernelCalls(class, of)
	}
	if s.e.classes[class].servesOne() && !f.Where.inRoundTrip() && (k.kind == ChannelKind || k.kind == ConditionKind || k.kind == GroupKind) {
		c.least = minShort
	}
	if k.kind == SleepKind {
		f.Lock = lockByName(f.Where.Path)
		c.rests = func() string {
			return cmp.Or(s.leadsOn(c, by[class], 0), s.streaming(f, class, of), s.ticking(f, class, of))
		}
		c.note = s.pausing(f, class)
	} else {
		c.rests = func() string {
			return cmp.Or(s.resting(f, class), s.leadsOn(c, by[class], 0),
				s.awaitsProcess(f, by[class]), s.streaming(f, class, of))
		}
		c.note = s.standsStill(class, of)
	}
	if c.note == "" {
		c.note = c.rests()
	}
	c.refine = func(f *Finding) string { return s.refineWait(f, class, of) }
	if len(by) > 1 && most > 1 {
		c.others = func() *candidate {
			rest := maps.Clone(by)
			delete(rest, class)
			return s.waitsOf(k, apart, rest, most-1)
		}
	}
	return c
}

// minShort is the least mean number of goroutines that wait for others of
// the program, if each lives for one piece of work: nothing of their time
// counts as idle.
const minShort = 5 * minMean

// processWait waits for the end of a process.
const processWait = "os/exec.(*Cmd).Wait"

var processEnd = named(regexp.QuoteMeta(processWait))

// lookingAfter is the note of waits for the end of a process to
// look after, and of waits for who waits for it.
const lookingAfter = "it may look after a process"

// awaitsProcess returns a note if a wait is for the end of a
// process to look after.
func (s *searcher) awaitsProcess(f *Finding, waits float64) string {
	if f.Kind != BlockingKind || s.doing(f, processEnd) < isSign || !s.looksAfter(f, waits) {
		return ""
	}
	return lookingAfter
}

// forProcess returns where the program waits for the end of a process,
// with the share of the time in which it does; nil if that is less
// than half.
func (s *searcher) forProcess() *Part {
	waits := func(at *situation) bool { return !at.usesCPU() && s.e.places.matches(at.state.Stack, processEnd) }
	h, all, then := s.e.places.heaviest(), 0.0, 0.0
	for _, o := range s.e.observe([]question{{hit: waits}})[0] {
		if all += o.Weight; o.Hits > 0 {
			then += o.Weight
		}
	}
	if then < explains*all || then == 0 {
		return nil
	}
	for _, at := range s.e.situations {
		if waits(at) {
			h.add(at.state.Stack, at.weight)
		}
	}
	return &Part{Name: h.place().Function, Share: then / all}
}

// leftToChild returns what those do that goroutines have started
// where they wait, if these wait for the end of a process.
func (s *searcher) leftToChild(class int32, of func(*situation) bool) []Cause {
	ends := func(f sampledata.Function) bool { return f.Name == processWait }
	if !slices.ContainsFunc(s.e.r.Functions, ends) {
		return nil
	}
	return slices.DeleteFunc(s.e.children(ofClass(class, of)), func(c Cause) bool {
		return !s.e.places.matches(c.Place.stack, processEnd)
	})
}

// waitKey returns the hypothesis that a situation belongs to, if
// it is a wait.
func (s *searcher) waitKey(at *situation) (waitKey, bool) {
	if at.state.Stack == sampledata.NoStack || s.e.classes[at.class].runtimes || !at.waits() {
		return waitKey{}, false
	}
	kind, ok := waitKinds[s.e.activity(at)]
	k := waitKey{kind: kind, function: s.e.places.at(at.state.Stack)}
	if kind == ChannelKind {
		library := s.e.places.library(s.e.places.own[at.state.Stack], at.state.Stack)
		if s.asks(library) {
			k.asked = library
		}
	}
	return k, ok
}

// minBelow is the least part of a wait in what its function
// calls that is said.
const minBelow = 0.05

// leadsOn returns a note if most of what a candidate's share
// counts, but for what is left out, is in functions that it
// calls: these are hypotheses of their own.
func (s *searcher) leadsOn(c *candidate, own, leftOut float64) string {
	if own < 0.5*(s.mean(c.asks)*s.e.length-leftOut) {
		return "most of it is in functions that it calls"
	}
	return ""
}

// stopsReading is the function in which a handler of HTTP waits
// for the goroutine that reads on in its connection.
const stopsReading = "net/http.(*connReader).abortPendingRead"

// refineWait finds out what the goroutines do that others wait for.
func (s *searcher) refineWait(f *Finding, class int32, of func(*situation) bool) (note string) {
	f.Causes = s.e.blameFor(f, of)
	f.Causes = s.e.inTheEnd(f)
	switch f.Kind {
	case IOKind, BlockingKind, ForeignKind, SleepKind:
		return ""
	case ConditionKind:
		if f.Where.Function == stopsReading {
			return "a goroutine of the library ends it as soon as it has a processor"
		}
	case GroupKind:
		if len(f.Causes) == 0 && !s.alone(class) {
			return "" // several wait for what others do for them
		}
		rests := func(c *Cause) bool {
			return (c.Activity == WaitsForWork || c.Activity == IO) && s.relays(c.Place.stack)
		}
		if shareWhere(f.Causes, rests) >= mostOf {
			return nextMessage // both ways of a tunnel
		}
		return working(f.Causes)
	}
	f.Limit = s.limit(class, of)
	receives := views.WaitingFor(f.Reason) != views.Sending && !writes(f.Where.Library)
	if receives && sharesOf(f.Causes) < explains {
		if causes := s.leftToChild(class, of); sharesOf(causes) >= explains {
			f.Causes = causes
			if child, known := s.e.byName[causes[0].Class]; known && s.e.classes[child].ends() {
				return ""
			}
			return lookingAfter
		}
	}
	if receives && s.awaitsWork(class, f) {
		note = s.forOthers(class, f, forWork)
	} else if (receives && f.Where.longPolls() || f.Where.inPolling()) && !s.inCalls() && s.awaitsNews(class, f) { // until somebody has something
		note = s.forOthers(class, f, nextMessage)
	}
	if note != "" {
		return note
	}
	if len(f.Causes) == 0 {
		f.Causes = s.e.peers(of, receives)
	}
	if !receives && f.Idle >= mostOf && mostlyIdle(f.Causes) {
		return "the other end waits for it"
	}
	if !receives && s.isAhead(class, f) {
		return notTaken
	}
	if len(f.Causes) > 0 {
		return ""
	}
	few := f.Severity < fewResults || views.MayBeStopped(f.Reason)
	if !receives && few && s.leavesResults(class, of) {
		return notTaken
	}
	if f.Where.inRoundTrip() { // a server ends it
		f.handler = s.asksItself(f)
		return ""
	}
	if s.reconnects(f)+s.upgrades(f) >= isSign {
		return ""
	}
	if f.Causes = s.e.children(ofClass(class, of)); len(f.Causes) == 0 {
		f.Causes = s.siblings(class, of)
	}
	if len(f.Causes) > 0 {
		return working(f.Causes)
	}
	if f.Causes = s.fellows(class, &f.Where, of); len(f.Causes) == 0 {
		f.Causes = s.e.offspring(ofClass(class, of))
	}
	if len(f.Causes) == 0 {
		f.specific = IOKind.row().specific // of who is waited for, as little is known
	}
	return ""
}

// fewResults is how many goroutines with a result wait at most, if
// it is just that nobody needs it yet: many are a queue.
const fewResults = 3

// leavesResults reports whether goroutines of a class that wait to
// send mostly end after the first time: what they send is their
// result. Or another case of a select stops them.
func (s *searcher) leavesResults(class int32, of func(*situation) bool) bool {
	if !s.e.classes[class].ends() {
		return false
	}
	type life struct {
		last          int32
		sent, results bool // it has sent; the last thing that it did was to send for the first time
	}
	lives := make(map[sampledata.GoroutineID]life)
	for run, at := range s.e.runs(ofClass(class, anywhere)) {
		is, was := at.state.Doing == views.Sending && of(at), lives[run.Goroutine].sent
		lives[run.Goroutine] = life{run.Last, was || is, is && (!was || views.MayBeStopped(run.Reason))}
	}
	ended, left := 0, 0
	for _, l := range lives {
		if l.last < s.e.to-1 {
			if ended++; l.results {
				left++
			}
		}
	}
	return left > 0 && float64(left) >= mostOf*float64(ended)
}

// notTaken is the note of those that wait to send to who needs nothing.
const notTaken = "each has a result that nobody takes yet"

// isAhead reports whether goroutines of a class that wait to send
// produce things in advance, and are no handlers of requests. Those
// for whom they wait are streams or, of a few, they wait for work or
// for a ticker. Or nobody is known and at work for whom the few could
// wait, and they go round and do nothing else.
func (s *searcher) isAhead(class int32, f *Finding) bool {
	c, few := &s.e.classes[class], f.Severity < fewResults
	if c.ends() {
		return false
	}
	if len(f.Causes) > 0 {
		handler := c.life-c.active >= hardlyIdle*c.life || s.calledBack(f.Where.Path)
		return !handler && shareWhere(f.Causes, func(c *Cause) bool { return s.needsNothing(c, few) }) >= mostOf
	}
	return few && s.isLoop(class, f.Where.Function) && s.isAlone(f) >= isSign
}

// needsNothing reports whether those that others wait for are streams
// that a ticker drives, or wait for work, or for a ticker where they do.
// Of many that wait for them, only streams may need nothing.
func (s *searcher) needsNothing(of *Cause, few bool) bool {
	if of.Activity == WaitsForWork {
		return few
	}
	class, known := s.e.byName[of.Class]
	if of.Activity != Sleeping || !known {
		return false
	}
	return few && 2*s.e.classes[class].ticks > s.e.classes[class].life ||
		slices.ContainsFunc(s.all, func(c *candidate) bool {
			return c.f.Kind == SleepKind && c.f.Class == of.Class && views.OfChannelTimer(c.f.Reason) &&
				(few && c.note == sleepsBetween || c.note == goesOn || c.note == driven)
		})
}

// mostlyIdle reports whether those that others wait for mostly wait for work.
func mostlyIdle(causes []Cause) bool { return shareWhere(causes, doing(WaitsForWork)) >= mostOf }

// shares reports whether goroutines of the class mostly wait for
// others of it: they share something.
func (f *Finding) shares() bool {
	own := shareWhere(f.Causes,
		func(c *Cause) bool { return c.Class == f.Class && c.Certainty != Fellow })
	return own > 0 && own >= sharesOf(f.Causes)/2
}

// working returns a note if those that others wait for mostly do
// their work.
func working(causes []Cause) string {
	works := shareWhere(causes, doing(Computing, CallsKernel, Ready, NoCPU, Collecting))
	switch all := sharesOf(causes); {
	case all == 0:
		return "it is not known whom it waits for"
	case works > all/2:
		return "those that it waits for are at work"
	}
	return ""
}
