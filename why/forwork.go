package why

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// forWork is the note of waits that are no evidence that
// something is slow.
const forWork = "it may wait for work"

// nextMessage is the note of who may have nothing to read yet.
const nextMessage = "it may wait for the next message"

// clientSends is the note of servers of HTTP that read a request's body.
const clientSends = "it waits for what its client sends"

// livesOnce is the note of waits for others, or for the end, of
// goroutines that never come back for work.
const livesOnce = "each lives for one piece of work, and may wait for others"

// forOthers returns a note of waits for work, unless each of many
// goroutines of a class lives for one piece of it: hardly any
// comes back to the wait. If it handles a request, that takes so
// long, and there is no note.
func (s *searcher) forOthers(class int32, f *Finding, note string) string {
	c := &s.e.classes[class]
	switch {
	case !c.servesOne() || s.staysIn(class, f.Where.Function) >= 2*c.goroutines:
		return note
	case s.handles(f):
		return ""
	}
	return livesOnce
}

// handles reports whether goroutines that a library has started wait
// in what another module does for them: each handles a request.
func (s *searcher) handles(f *Finding) bool {
	nodes := s.e.r.Nodes
	own := s.e.places.own[f.Where.stack]
	first := own
	for n := own; n != sampledata.NoStack; n = nodes[n].Parent {
		name := s.e.places.function(n)
		if views.IsOwn(name) && (s.wrapper == nil || !s.wrapper(name)) {
			first = n
		}
	}
	library := s.modules.Of(nodes[first].Function)
	return library != s.modules.Main() && library != s.modules.Of(nodes[own].Function)
}

// lonely is the note of waits that hold up nobody as far as is known.
const lonely = "it is one goroutine, and nobody is known to wait for it"

// asksLonely is the same of one that asks a server.
const asksLonely = "it is one goroutine that asks a server, and nobody is known to wait for it"

// byTimer is the note of what goroutines do that sleep most of the time.
const byTimer = "a timer drives it, and nobody is known to wait for it"

// mostlySleeps is the share of a class's life in sleep from
// which a timer drives it.
const mostlySleeps = 2. / 3

// inCalls reports whether only the time in calls counts, which
// somebody has chosen. They are pieces of work: nobody waits for
// one in the middle of it.
func (s *searcher) inCalls() bool { return s.e.r.Restricted != nil }

// sendsRequest is the function in which a goroutine of a client of
// HTTP sends a request for another one.
const sendsRequest = "net/http.(*Request).write"

// closing matches the methods that close connections.
var closing = regexp.MustCompile(`(?i)\(\*?\w*(conn|socket|session|client|stream|transport)\w*\)\.(Close|Shutdown)$`)

// ends reports whether a finding waits for I/O while a connection is
// closed: no other piece of work comes from it.
func (f *Finding) ends() bool {
	return f.Kind == IOKind && slices.ContainsFunc(f.Where.Path, closing.MatchString)
}

// backsOff matches functions that wait between two tries, mostly in a
// select with a timer and the end of a context.
var backsOff = regexp.MustCompile(`(?i)(retry|back_?off)[^/]*$`)

// backsOff reports whether a finding is the wait in such a select.
func (f *Finding) backsOff() bool {
	return f.Kind == ChannelKind && f.Where.Library == "" && views.WaitingFor(f.Reason) == views.Selecting &&
		backsOff.MatchString(f.Where.Function)
}

// fileRead matches what reads from a file or a pipe, and fromFile is the
// note of a loop that waits for that.
var fileRead = regexp.MustCompile(`^os\.\(\*File\)\.Read$`)

const fromFile = "it waits for what it reads from an os.File, such as standard input or a pipe"

// resting returns why goroutines of a class that wait are not slow, or "".
func (s *searcher) resting(f *Finding, class int32) string {
	alone := s.alone(class)
	if s.inCalls() || f.ends() && !alone {
		return ""
	}
	c := &s.e.classes[class]
	if f.Kind == IOKind && s.e.places.through(f.Where.stack, "net/http.(*connReader).Read") {
		return clientSends
	}
	if f.Kind == IOKind && f.Where.ofServer() && s.readsRequests(f.Where.stack) {
		return nextMessage // though a greeting was written before
	}
	if f.Kind == IOKind && (!alone || c.name == mainClass) && s.awaitsAnswers(class, f) {
		return ""
	}
	outside := f.Kind == IOKind || f.Kind == BlockingKind || f.Kind == ForeignKind || f.Where.inStream()
	reads := views.WaitingFor(f.Reason) != views.Sending && !writes(cmp.Or(f.Where.Library, f.Where.Function))
	switch {
	case f.Kind == IOKind && !reads && s.e.places.through(f.Where.stack, sendsRequest):
		return "" // who has made the request waits for it
	case outside && c.sleeps > mostlySleeps*c.life:
		return byTimer
	case f.Kind == IOKind && reads && (s.readsRequests(f.Where.stack) || s.relays(f.Where.stack) || s.readsAgain(class, f)):
		return nextMessage
	case reads && s.relaysStream(class, f):
		return nextMessage
	case f.Kind == BlockingKind && !c.servesOne() && s.doing(f, processEnd) >= isSign: // see awaitsProcess
		return ""
	case outside && reads && s.isLoop(class, f.Where.Function) && !(f.Kind == IOKind && c.servesOne()):
		if s.doing(f, fileRead) >= isSign {
			return fromFile
		}
		return forWork
	case f.Kind == IOKind && alone, f.backsOff() && alone && c.name != mainClass:
		return lonely
	case f.Where.inRoundTrip() && alone && c.goroutines == 1 && c.name != mainClass && c.active < saturation*c.life:
		return asksLonely
	}
	return ""
}

// readsAgain reports whether each goroutine of a class reads in
// its first function again and again. A server's goroutine does.
// One that asks once does not.
func (s *searcher) readsAgain(class int32, f *Finding) bool {
	c := &s.e.classes[class]
	return c.name == "go:"+f.Where.Function && s.staysIn(class, f.Where.Function) >= 2*c.goroutines
}

// staysIn returns how often goroutines of a class came to wait in
// a function.
func (s *searcher) staysIn(class int32, function string) (stays int) {
	for _, at := range s.members(class) {
		if at.waits() && s.on(at, function) {
			stays += at.stays
		}
	}
	return stays
}

// alone reports whether a class is one goroutine that lives on.
func (s *searcher) alone(class int32) bool {
	c := &s.e.classes[class]
	return s.e.mean(c.active) < 1.5 && c.ended < 3
}

// awaitsAnswers reports whether goroutines of a class that wait
// in a function mostly wait for answers to what they wrote.
func (s *searcher) awaitsAnswers(class int32, f *Finding) bool {
	all, answers := weigh(s.members(class),
		func(at *situation) bool { return at.waits() && s.on(at, f.Where.Function) },
		func(at *situation) bool { return at.answer })
	return 2*answers > all
}

// looking matches what finds out whether a file has more, and
// what begins to sleep.
var looking = regexp.MustCompile(`^(os\.\(\*File\)\.Read|bufio\.\(\*(Reader|Scanner)\)\.(Read|Scan)|` +
	`time\.Sleep$|runtime\.selectgo$)`)

// sleepsBetween is the note of sleep in the loop of a class.
const sleepsBetween = "it may sleep between two pieces of work"

// sleepsOnce is the note of goroutines that sleep once in their
// life. If others wait for them, that is a part of the work.
const sleepsOnce = "each was seen to sleep once at most, and ends: others may wait for it"

// leastAwaited is the share of the waits in a finding that are
// for goroutines at least if these are a cause.
const leastAwaited = 0.1

// awaits reports whether the sleep of a finding's class, or what else it
// does, is why the goroutines of another one wait.
func (a *Answer) awaits(f *Finding, does Activity) bool {
	return slices.ContainsFunc(a.Findings, func(other *Finding) bool {
		return slices.ContainsFunc(other.Causes, func(c Cause) bool {
			return c.Class == f.Class && c.Activity == does && c.Certainty != Meanwhile && c.Share >= leastAwaited
		})
	})
}

// pausing returns why goroutines of a class that sleep in a
// function are not slow, or "". In a function right below a
// goroutine's first one, they may sleep between two pieces of
// work, if that is all that it was seen to do. They may look
// there whether a file has more. What the standard library calls
// back, such as a handler, is a piece of work. Who has not moved
// may sleep once, and for long, unless others are further on in
// the same work.
func (s *searcher) pausing(f *Finding, class int32) string {
	sleeps, still, stays := 0.0, 0.0, 0
	works, further := false, false
	for _, at := range s.members(class) {
		switch on, does := s.on(at, f.Where.Function), at.state.Doing; {
		case on && (does == views.Selecting || does == views.Ready): // before or after a sleep
		case on && does != views.Sleeping:
			works = works || !s.e.places.above(at.state.Stack, looking.MatchString)
		case on && at.still:
			still += at.weight
			fallthrough
		case on:
			sleeps += at.weight
			stays += at.stays
		case s.on(at, f.Where.Caller):
			further = true
		}
	}
	steps := lists.Count(f.Where.Path, views.IsOwn)
	path, _ := s.untilTaken(f)
	polls := len(path) < len(f.Where.Path) && s.isLoop(class, path[len(path)-1]) &&
		!slices.ContainsFunc(f.Where.Path[len(path):], func(name string) bool {
			return acquiring.MatchString(views.LastName(name)) // a place in a pool
		})
	c := &s.e.classes[class]
	switch between := !s.inCalls() && !s.calledBack(f.Where.Path) && (steps == 1 || polls || steps == 2 && !works); {
	case between && c.ends() && stays <= c.goroutines:
		return sleepsOnce
	case between:
		return sleepsBetween
	case 2*still > sleeps && !further:
		return notMoved
	case s.alone(class) && s.e.mean(c.life) < 1.5:
		return lonely
	}
	return ""
}

// isReader reports whether goroutines of a class that wait in
// such a function live on, and probably wait for requests.
func (s *searcher) isReader(class int32, f *Finding) bool {
	path := f.Where.Path
	name := views.LastName(f.Where.Function)
	return receiving.MatchString(name) && s.e.classes[class].ended == 0 &&
		len(path) > 0 && views.IsOwn(path[0]) && s.readsRequests(f.Where.stack)
}

// serves reports whether goroutines of a class that live on wait
// for the next request of a connection, from whichever goroutine
// reads it.
func (s *searcher) serves(class int32, f *Finding) bool {
	path := f.Where.Path
	last := len(path) - 1
	for last >= 0 && peeking.MatchString(views.LastName(path[last])) {
		last--
	}
	return last >= 0 && last < len(path)-1 && serving.MatchString(views.LastName(path[last])) &&
		views.IsOwn(path[last]) && s.e.classes[class].ended == 0
}

// asking matches the names of functions that have something done
// by others, and wait until it is.
var asking = regexp.MustCompile(`(?i)^(write|append|put|add|insert|send|publish|submit|commit|flush|sync|do|call|exec|request|save|store|set)`)

// takesWork reports whether goroutines of a class probably wait
// for work in a function that their loop calls: others give it
// to them, or hardly anybody is at work whom they could wait
// for. Get may take a place in a pool, too, and who waits may
// have asked: then somebody works on the answer.
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

// untilTaken returns the path to what takes work, by its name,
// or waits for who does, and whether something takes it. Who
// waits for a condition may do so in a helper of any name.
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

// isTimed reports whether a cause is the sleep of goroutines
// that hardly do anything else: a timer drives them.
func (s *searcher) isTimed(c Cause) bool {
	of, ok := s.e.byName[c.Class]
	return ok && c.Activity == Sleeping &&
		s.e.classes[of].sleeps > mostlySleeps*s.e.classes[of].life
}

// dequeuing matches the names of functions that take work out of a
// queue, whatever else they do.
var dequeuing = regexp.MustCompile(`^([dD]equeue|[pP]op)([A-Z_]|$)`)

// semaphoreAcquire is what takes a place that others give back.
const semaphoreAcquire = "golang.org/x/sync/semaphore.(*Weighted).Acquire"

// awaitsWork reports whether goroutines of a class that wait to
// receive probably wait for work.
func (s *searcher) awaitsWork(class int32, f *Finding) bool {
	if s.inCalls() || s.isBusy(f.Where.Function) || f.shares() || f.Where.takesPlace() || s.awaitsStarted(class, f) {
		return false
	}
	if s.asks(f.Where.Library) { // a semaphore may count what a queue has
		return f.OfSemaphore() && s.takesWork(class, f)
	}
	if s.serves(class, f) {
		return true
	}
	if s.awaitsAnswers(class, f) { // a message or a state, if its name says so
		name := views.LastName(f.Where.Function)
		if dequeuing.MatchString(name) { // what it has sent registers it
			return s.takesWork(class, f)
		}
		return (f.Where.longPolls() || awaiting.MatchString(name)) && s.leftAlone(class, f)
	}
	loops := s.isLoop(class, f.Where.Function) && !s.handlerAsks(f)
	return s.leftAlone(class, f) || loops || s.isReader(class, f) || s.takesWork(class, f)
}

// awaitsStarted reports whether goroutines of a class wait for the sleep of
// those that they have started, and that end: each is a part of a piece
// of work, such as a ticker with which a client looks for its result.
func (s *searcher) awaitsStarted(class int32, f *Finding) bool {
	started := make(map[int32]bool)
	for _, c := range f.Causes {
		of, known := s.e.byName[c.Class]
		if known && c.Activity == Sleeping && !c.Certainty.isGuess() && s.e.classes[of].ends() {
			started[of] = true
		}
	}
	if len(started) == 0 {
		return false
	}
	parents := make(map[int64]bool)
	for run := range s.e.runs(ofClass(class, anywhere)) {
		parents[s.e.r.Goroutines.At(run.Goroutine).ID] = true
	}
	for run := range s.e.runs(func(at *situation) bool { return started[at.class] }) {
		if of := s.e.r.Goroutines.At(run.Goroutine).Parent; of != 0 && parents[of] {
			return true
		}
	}
	return false
}

// handlerAsks reports whether a handler of requests waits in a function
// of another module that has something done by others, by its name:
// that is no loop, though it may take nearly all of the time.
func (s *searcher) handlerAsks(f *Finding) bool {
	own := s.e.r.Nodes[s.e.places.own[f.Where.stack]].Function
	name := views.LastName(f.Where.Function)
	return s.modules.Of(own) != s.modules.Main() && s.calledBack(f.Where.Path) &&
		(asking.MatchString(name) || processing.MatchString(name))
}

// processing matches more such names. Elsewhere, they may be a loop's.
var processing = regexp.MustCompile(`(?i)^(process|invoke|perform|apply|query|schedule|enqueue|push)`)

// leftAlone reports whether goroutines may wait for work in a
// function of their loop's module, since hardly anybody is at
// work whom they could wait for. What they call another module
// for may have to come from outside. One goroutine alone may
// have called several functions of the module to get there.
func (s *searcher) leftAlone(class int32, f *Finding) bool {
	return f.Kind == ChannelKind && f.Where.Library == "" &&
		(s.e.classes[class].name == "go:"+f.Where.Caller || s.alone(class)) &&
		s.inOneModule(f.Where.stack) && s.deserted(class, f)
}

// deserted reports whether hardly anybody is at work while
// goroutines of a class wait nearly all their life, and nobody
// is known to end that.
func (s *searcher) deserted(class int32, f *Finding) bool {
	return f.Severity >= mostOf*s.e.mean(s.e.classes[class].life) && s.nobodyWorks(f, -1)
}

// nobodyWorks reports whether hardly anybody is at work whom
// goroutines could wait for, and nobody is known to end the
// wait. A class is left out.
func (s *searcher) nobodyWorks(f *Finding, but int32) bool {
	return f.Limit == nil && len(f.Causes) == 0 &&
		s.atWork(but) < explains*min(1, f.Severity)
}

// atWork returns the mean number of goroutines at work. One class is
// left out; -1 leaves out none.
func (s *searcher) atWork(but int32) float64 {
	return s.mean(question{hit: func(at *situation) bool { return at.class != but && s.isAtWork(at) }})
}

// workNotes are the notes of what is work all the same.
var workNotes = []string{lonely, asksLonely, sleepsOnce, sleepsAsked}

// isAtWork reports whether goroutines run, or do what no hypothesis
// says is for work: others could wait for them.
func (s *searcher) isAtWork(at *situation) bool {
	if at.idle || s.e.classes[at.class].runtimes {
		return false
	}
	switch s.e.activity(at) {
	case Sending, Receiving, Selecting, Conditional, Joining, OtherWait:
		return false
	}
	rests := func(c *candidate) bool {
		return c.note != "" && !slices.Contains(workNotes, c.note) && c.asks.hit(at)
	}
	works := func(c *candidate) bool { return c.note == "" && c.asks.hit(at) }
	return at.usesCPU() || isReady(at) || slices.ContainsFunc(s.all, works) || !slices.ContainsFunc(s.all, rests)
}
