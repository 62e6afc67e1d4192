package why

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A waitKey identifies waits that are one hypothesis: all waits of a kind in
// one function of the program, whoever calls it. What it asks the standard
// library for, such as the answer to a request, is another wait than the one
// at its own channels.
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
		all = append(all, s.waitsOf(k, by, mostClasses))
	}
	return all
}

// mostClasses limits the classes whose waits in one function are judged.
const mostClasses = 5

// waitsOf makes a candidate for the waits of some classes in one function. If
// those of the class that waits most turn out to be no problem, those of others
// may be. Most is how many are judged.
func (s *searcher) waitsOf(k waitKey, by sums, most int) *candidate {
	of := func(at *situation) bool {
		other, ok := s.waitKey(at)
		return ok && other == k
	}
	class := by.most()
	f := &Finding{Kind: k.kind, key: key(k.kind, k.function, k.asked), specific: k.kind.row().specific,
		asked: k.asked}
	c := s.suffering(f, by, of)
	if below := 1 - by[class]/max(by[class], s.mean(c.asks)*s.e.length); below >= minBelow {
		f.Below = below
	}
	if k.kind == BlockingKind {
		f.Calls = s.kernelCalls(class, of)
	}
	if k.kind == SleepKind {
		f.Lock = lockByName(f.Where.Path)
		c.note = cmp.Or(s.pausing(f, class), s.leadsOn(c, by[class], 0))
	} else {
		c.note = cmp.Or(s.standsStill(class, of), s.resting(f, class), s.leadsOn(c, by[class], 0))
	}
	c.refine = func(f *Finding) string { return s.refineWait(f, class, of) }
	if len(by) > 1 && most > 1 {
		c.others = func() *candidate {
			rest := maps.Clone(by)
			delete(rest, class)
			return s.waitsOf(k, rest, most-1)
		}
	}
	return c
}

// waitKey returns the hypothesis that a situation belongs to, if it is a wait.
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

// minBelow is the least part of a wait in what its function calls that is said.
const minBelow = 0.05

// forWork is the note of waits that are no evidence that something is slow.
const forWork = "it may wait for work"

// nextMessage is the note of who may have nothing to read yet.
const nextMessage = "it may wait for the next message"

// lonely is the note of waits that hold up nobody as far as is known.
const lonely = "it is one goroutine, and nobody is known to wait for it"

// mostlySleeps is the share of a class's life in sleep from which a timer drives
// it.
const mostlySleeps = 2. / 3

// resting returns why goroutines of a class that wait are not slow, or "".
func (s *searcher) resting(f *Finding, class int32) string {
	c := &s.e.classes[class]
	alone := s.alone(class)
	if f.Kind == IOKind && accepting.MatchString(f.Where.Path[0]) && readsRequests(f.Where.Path) {
		return nextMessage // though a greeting was written before
	}
	if f.Kind == IOKind && (!alone || c.name == "go:runtime.main") && s.awaitsAnswers(class, f) {
		return ""
	}
	outside := f.Kind == IOKind || f.Kind == BlockingKind || f.Kind == ForeignKind || f.Where.inStream()
	reads := views.WaitingFor(f.Reason) != views.Sending && !writes(f.Where.Library)
	switch {
	case outside && c.sleeps > mostlySleeps*c.life:
		return "a timer drives it, and nobody is known to wait for it"
	case f.Kind == IOKind && reads && (readsRequests(f.Where.Path) || s.relays(f.Where.stack) || s.readsAgain(class, f)):
		return nextMessage
	case outside && reads && s.isLoop(class, f.Where.Function) && !(f.Kind == IOKind && c.servesOne()):
		return forWork
	case f.Kind == IOKind && alone:
		return lonely
	}
	return ""
}

// connection matches the functions of the standard library that read the bytes
// of a connection, and know nothing of messages.
var connection = regexp.MustCompile(`^(net|crypto/tls|io|internal/poll|runtime|syscall)\.`)

// passing matches the names of methods that read for others.
var passing = regexp.MustCompile(`^(Read|ReadFrom|WriteTo)$`)

// relays reports whether a stack ends in io.Copy, which reads what a connection
// brings, as in a tunnel: it has asked nothing.
func (s *searcher) relays(stack sampledata.NodeID) bool {
	for n := stack; n != sampledata.NoStack; n = s.e.r.Nodes[n].Parent {
		name := s.e.places.function(n)
		if name == "io.copyBuffer" {
			return true
		}
		if !connection.MatchString(name) && !(views.IsOwn(name) && passing.MatchString(views.LastName(name))) {
			return false
		}
	}
	return false
}

// readsAgain reports whether each goroutine of a class reads in its first
// function again and again, as who serves a connection does, and who asks once
// does not.
func (s *searcher) readsAgain(class int32, f *Finding) bool {
	c, stays := &s.e.classes[class], 0
	for _, at := range s.members(class) {
		if at.waits() && s.on(at, f.Where.Function) {
			stays += at.stays
		}
	}
	return c.name == "go:"+f.Where.Function && stays >= 2*c.goroutines
}

// alone reports whether a class is one goroutine that lives on.
func (s *searcher) alone(class int32) bool {
	c := &s.e.classes[class]
	return s.e.mean(c.active) < 1.5 && c.ended < 3
}

// awaitsAnswers reports whether goroutines of a class that wait in a function
// mostly wait for answers to what they wrote.
func (s *searcher) awaitsAnswers(class int32, f *Finding) bool {
	answers, all := 0.0, 0.0
	for _, at := range s.members(class) {
		if at.waits() && s.on(at, f.Where.Function) {
			all += at.weight
			if at.answer {
				answers += at.weight
			}
		}
	}
	return 2*answers > all
}

// pausing returns why goroutines of a class that sleep in a function are not
// slow, or "". In a function right below a goroutine's first one, they may
// sleep between two pieces of work, if that is all that it was seen to do.
// What the standard library calls back, such as a handler, is a piece of work.
// Who has not moved may sleep once, and for long, unless others are further
// on in the same work.
func (s *searcher) pausing(f *Finding, class int32) string {
	sleeps, still := 0.0, 0.0
	works, further := false, false
	for _, at := range s.members(class) {
		switch on := s.on(at, f.Where.Function); {
		case on && at.state.Doing != views.Sleeping:
			works = true
		case on && at.still:
			still += at.weight
			fallthrough
		case on:
			sleeps += at.weight
		case s.on(at, f.Where.Caller):
			further = true
		}
	}
	steps := 0
	for _, name := range f.Where.Path {
		if views.IsOwn(name) {
			steps++
		}
	}
	polls := awaiting.MatchString(views.LastName(f.Where.Function)) && s.isLoop(class, f.Where.Caller)
	switch {
	case !s.calledBack(f.Where.Path) && (steps == 1 || steps == 2 && (!works || polls)):
		return "it may sleep between two pieces of work"
	case 2*still > sleeps && !further:
		return notMoved
	case s.alone(class):
		return lonely
	}
	return ""
}

// calledBack reports whether a goroutine of the standard library has called the
// program's functions on a path, as a server does with a handler.
func (s *searcher) calledBack(path []string) bool {
	if s.wrapper != nil {
		path = slices.DeleteFunc(slices.Clone(path), s.wrapper)
	}
	return len(path) > 0 && !views.IsOwn(path[0]) && !strings.HasPrefix(path[0], "runtime.")
}

// locking matches the names of functions that take a lock.
var locking = regexp.MustCompile(`(?i)\.(get|do|try|spin)?r?w?lock(loop|slow|blocking|context)?$`)

// lockByName returns the function that takes a lock by its name, if a path
// ends in it or in what it is made of; else "".
func lockByName(path []string) (name string) {
	for _, f := range slices.Backward(path) {
		if !views.IsOwn(f) {
			continue
		}
		if !locking.MatchString(f) {
			break
		}
		name = f
	}
	return name
}

// leadsOn returns a note if most of what a candidate's share counts, but for what
// is left out, is in functions that it calls: these are hypotheses of their own.
func (s *searcher) leadsOn(c *candidate, own, leftOut float64) string {
	if own < 0.5*(s.mean(c.asks)*s.e.length-leftOut) {
		return "most of it is in functions that it calls"
	}
	return ""
}

// writing matches the functions of the standard library that write to files
// and connections, or open them.
var writing = regexp.MustCompile(`\.(\w*Write\w*|writeBuffers|Sync|Flush|Dial\w*|Connect|dial\w*|Open\w*|Close|SendFile|sendFile|ReadFrom|Handshake\w*)$`)

func writes(library string) bool { return writing.MatchString(library) }

// reading matches the names of functions that wait for requests.
var reading = regexp.MustCompile(`(?i)^(read|recv|receive|next|accept|scan|decode|parse|fetch|poll|listen|wait|serve|handle|loop|run|process|main|func\d)|(loop|reader|scan|recv|conn|serve)$`)

// readsRequests reports whether a goroutine that reads from a connection
// probably waits for a request. All functions on the path then have names as
// in a server's loop.
func readsRequests(path []string) bool {
	for _, f := range path {
		name := views.LastName(f)
		if views.IsOwn(f) && !reading.MatchString(name) {
			return false
		}
	}
	return true
}

// longPolling matches the functions whose requests are answered once there is
// something.
var longPolling = regexp.MustCompile(`\.(?i:long_?poll|get_?updates|receive_?messages?|poll|watch|subscribe)`)

// following matches the functions whose own requests are such, by their names.
// Around other requests, they may be the loop that handles what has come.
var following = regexp.MustCompile(`\.(?i:listen|next|follow|tail)\w*$`)

// longPolls reports whether a wait is probably one until there is something. Of
// waits for the answer of a server, whoever asks may say so.
func (p *Place) longPolls() bool {
	is := func(f string) bool { return longPolling.MatchString(f) || following.MatchString(f) }
	return is(p.Function) || p.inRoundTrip() &&
		(following.MatchString(p.Caller) || slices.ContainsFunc(p.Path, longPolling.MatchString))
}

// accepting matches the first functions of goroutines that a server starts for
// the connections that it accepts.
var accepting = regexp.MustCompile(`(?i)\.(serve|accept|listen)\w*(\.func\d+)+$`)

// asks reports whether a function of the standard library, such as the one
// that sends a request over HTTP, waits for what its caller wants done.
func (s *searcher) asks(library string) bool {
	role := s.o.Views.Role
	return library != "" && !views.IsOwn(library) && role != nil && role(library) == views.OtherRole
}

// isBusy reports whether a function never waits for work, though it may look
// so.
func (s *searcher) isBusy(function string) bool {
	role := s.o.Views.Role
	return role != nil && role(function) == views.BusyRole
}

// isLoop reports whether a function is the loop of a class: all that its
// goroutines do, they do there or below. A class may have several loops. Then
// it is all that those do that live on, and were seen in the function.
func (s *searcher) isLoop(class int32, function string) bool {
	if s.e.classes[class].name == "go:"+function {
		return true // they begin in it
	}
	within := 0.0
	for _, at := range s.members(class) {
		if s.on(at, function) {
			within += at.weight
		}
	}
	life := s.e.classes[class].life
	return within >= isAll*life || within >= minPart*life && s.isOwnLoop(class, function)
}

// isAll is the share of the time from which it is all.
const isAll = 0.99

// isOwnLoop reports whether all that some goroutines of a class do is in a
// function or below: those that live on, and were seen there.
func (s *searcher) isOwnLoop(class int32, function string) bool {
	type stay struct {
		within, life float64
		first, last  bool // it was there in these samples
	}
	stays, on := make(map[sampledata.GoroutineID]stay), s.e.matching(func(at *situation) bool {
		return at.class == class && s.on(at, function)
	})
	for i, run := range s.e.r.Runs.All() {
		at := s.e.of[i]
		if at < 0 || s.e.situations[at].class != class {
			continue
		}
		g, weight := stays[run.Goroutine], s.e.between(max(run.First, s.e.from), min(run.Last, s.e.to-1))
		g.life += weight
		g.first, g.last = g.first || run.First <= s.e.from, g.last || run.Last >= s.e.to-1
		if on[at] {
			g.within += weight
		}
		stays[run.Goroutine] = g
	}
	within, life := 0.0, 0.0
	for _, g := range stays {
		if g.first && g.last && g.within > 0 {
			within, life = within+g.within, life+g.life
		}
	}
	return life > 0 && within >= isAll*life
}

// receiving matches the names of functions that read from what need not be a
// connection, such as a stream of several over one.
var receiving = regexp.MustCompile(`(?i)^(read|recv|receive|accept)`)

// isReader reports whether goroutines of a class that wait in such a function
// live on, and probably wait for requests.
func (s *searcher) isReader(class int32, f *Finding) bool {
	path := f.Where.Path
	name := views.LastName(f.Where.Function)
	return receiving.MatchString(name) && s.e.classes[class].ended == 0 &&
		len(path) > 0 && views.IsOwn(path[0]) && readsRequests(path)
}

// serving matches the loop of a connection, and peeking what it calls to read
// the next request.
var (
	serving = regexp.MustCompile(`(?i)^serve(conn)?$`)
	peeking = regexp.MustCompile(`(?i)^(wait_?)?(read|peek|recv|receive)`)
)

// serves reports whether goroutines of a class that live on wait for the next
// request of a connection, from whichever goroutine reads it.
func (s *searcher) serves(class int32, f *Finding) bool {
	path := f.Where.Path
	last := len(path) - 1
	for last >= 0 && peeking.MatchString(views.LastName(path[last])) {
		last--
	}
	return last >= 0 && last < len(path)-1 && serving.MatchString(views.LastName(path[last])) &&
		views.IsOwn(path[last]) && s.e.classes[class].ended == 0
}

// awaiting matches the names of functions that wait for whoever calls them.
var awaiting = regexp.MustCompile(`^(?i:a?wait)`)

// asking matches the names of functions that have something done by others, and
// wait until it is.
var asking = regexp.MustCompile(`(?i)^(write|append|put|add|insert|send|publish|submit|commit|flush|sync|do|call|exec|request|save|store|set)`)

// takesWork reports whether goroutines of a class probably wait for work in a
// function that their loop calls: others give it to them, or hardly anybody is
// at work whom they could wait for. Get may take a place in a pool, too, and who
// waits may have asked: then somebody works on the answer.
func (s *searcher) takesWork(class int32, f *Finding) bool {
	path, takes := s.untilTaken(f)
	timed := len(f.Causes) > 0 && !slices.ContainsFunc(f.Causes, func(c Cause) bool { return !s.isTimed(c) })
	name := views.LastName(f.Where.Function)
	if own := len(f.Where.Path); f.Kind == ConditionKind && len(path) == own && own > 1 &&
		(timed || !acquiring.MatchString(name) && !asking.MatchString(name)) {
		path = path[:own-1]
	}
	switch {
	case len(path) == len(f.Where.Path) || !s.isLoop(class, path[len(path)-1]):
		return false
	case len(f.Causes) > 0:
		return takes || timed
	}
	return f.Kind == ConditionKind && s.nobodyWorks(f, class) || takes && name != "Get" && s.deserted(class, f)
}

// untilTaken returns the path to what takes work, by its name, or waits for who
// does, and whether something takes it. Who waits for a condition may do so in a
// helper of any name.
func (s *searcher) untilTaken(f *Finding) (path []string, takes bool) {
	path = f.Where.Path
	taken := func(last string) bool {
		return views.TakesWork(last) || awaiting.MatchString(views.LastName(last))
	}
	if n := len(path); f.Kind == ConditionKind && n > 2 && !taken(path[n-1]) && taken(path[n-2]) {
		path = path[:n-1]
	}
	for len(path) > 1 && taken(path[len(path)-1]) {
		takes = takes || views.TakesWork(path[len(path)-1])
		path = path[:len(path)-1]
	}
	return path, takes
}

// isTimed reports whether a cause is the sleep of goroutines that hardly do
// anything else: a timer drives them.
func (s *searcher) isTimed(c Cause) bool {
	of, ok := s.e.byName[c.Class]
	return ok && c.Activity == Sleeping &&
		s.e.classes[of].sleeps > mostlySleeps*s.e.classes[of].life
}

// awaitsWork reports whether goroutines of a class that wait to receive probably
// wait for work.
func (s *searcher) awaitsWork(class int32, f *Finding) bool {
	if s.isBusy(f.Where.Function) || f.shares() || s.asks(f.Where.Library) {
		return false
	}
	if s.serves(class, f) {
		return true
	}
	if s.awaitsAnswers(class, f) { // a message or a state, if its name says so
		named := f.Where.longPolls() || awaiting.MatchString(views.LastName(f.Where.Function))
		return named && s.leftAlone(class, f)
	}
	return s.leftAlone(class, f) || s.isLoop(class, f.Where.Function) || s.isReader(class, f) || s.takesWork(class, f)
}

// stopsReading is the function in which a handler of HTTP waits for the goroutine
// that reads on in its connection.
const stopsReading = "net/http.(*connReader).abortPendingRead"

// refineWait finds out what the goroutines do that others wait for.
func (s *searcher) refineWait(f *Finding, class int32, of func(*situation) bool) (note string) {
	f.Causes = s.e.blameFor(f, of)
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
		return working(f.Causes)
	}
	f.Limit = s.limit(class, of)
	receives := views.WaitingFor(f.Reason) != views.Sending
	if receives && s.awaitsWork(class, f) {
		return forWork
	}
	if receives && f.Where.longPolls() && s.deserted(class, f) { // until somebody has something
		return nextMessage
	}
	if len(f.Causes) == 0 {
		f.Causes = s.e.peers(of, receives)
	}
	if !receives && f.Idle >= mostOf && resting(f.Causes) {
		return "the other end waits for it"
	}
	if len(f.Causes) > 0 {
		return ""
	}
	if f.Causes = s.e.children(ofClass(class, of)); len(f.Causes) == 0 {
		f.Causes = s.siblings(class, of)
	}
	if len(f.Causes) > 0 {
		return working(f.Causes)
	}
	if f.Where.inRoundTrip() { // a server ends it
		f.handler = s.asksItself(f)
		return ""
	}
	if f.Causes = s.fellows(class, &f.Where, of); len(f.Causes) == 0 {
		f.specific = IOKind.row().specific // of who is waited for, as little is known
	}
	return ""
}

// resting reports whether those that others wait for mostly wait for work.
func resting(causes []Cause) bool {
	rests := 0.0
	for _, c := range causes {
		if c.Activity == WaitsForWork {
			rests += c.Share
		}
	}
	return rests >= mostOf
}

// shares reports whether goroutines of the class mostly wait for others of it:
// they share something.
func (f *Finding) shares() bool {
	own, all := 0.0, 0.0
	for _, c := range f.Causes {
		if all += c.Share; c.Class == f.Class && c.Certainty != Fellow {
			own += c.Share
		}
	}
	return own > 0 && own >= all/2
}

// working returns a note if those that others wait for mostly do their work.
func working(causes []Cause) string {
	works, waits := 0.0, 0.0
	for _, c := range causes {
		switch c.Activity {
		case Computing, CallsKernel, Ready, NoCPU, Collecting:
			works += c.Share
		default:
			waits += c.Share
		}
	}
	switch {
	case works+waits == 0:
		return "it is not known whom it waits for"
	case works > waits:
		return "those that it waits for are at work"
	}
	return ""
}
