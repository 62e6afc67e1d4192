package why

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// If nobody is named who may end a wait, others are guessed.
// They use the other side of the channel, or are further on in
// the same function. Or the goroutine has started them, or was
// started with them.

// peers finds out what the goroutines do that wait for the same
// channels as those in the situations, from the other side, at
// other times: receivers if those send, senders if those
// receive. It describes all that they do, but does not claim
// that the channel's goroutines have to wait for all of it.
func (e *evidence) peers(of func(*situation) bool, receive bool) []Cause {
	addresses, own := make(map[uint64]bool), make(map[int32]bool)
	for _, s := range e.situations {
		if of(s) && s.state.Channel != 0 {
			addresses[s.state.Channel], own[s.class] = true, true
		}
	}
	classes := make(map[int32]bool)
	for _, s := range e.situations {
		does := s.state.Doing
		sends := does == views.Sending
		waits := does.Waits() && addresses[s.state.Channel] && !own[s.class]
		if waits && (sends && receive || !sends && !receive && (does.OfChannel() || s.idle)) {
			classes[s.class] = true
		}
	}
	b := newBlamed(e)
	for _, s := range e.situations {
		if classes[s.class] {
			b.total += s.weight
			b.do(s, OtherSide, s.weight)
		}
	}
	return b.causes()
}

// acquiring matches the names of functions that take something for a while.
var acquiring = regexp.MustCompile(`(?i)^(get|acquire|borrow|lease|check_?out|grab|reserve|conn|enter|lock|limit|throttle)`)

// pooling matches the methods of pools and the functions of their
// packages, and givenWork the names of those that take work out of
// one, or files.
var (
	pooling   = regexp.MustCompile(`(?i)pool(\[.*\])?\)?\.\w+$`)
	givenWork = regexp.MustCompile(`(?i)job|task|work|msg|message|event|item|next|spool`)
)

// takesPlace reports whether goroutines wait in a function that
// takes something out of a pool for a while, or in what it calls.
func (p *Place) takesPlace() bool {
	takes := func(f string) bool {
		last := f[strings.LastIndexByte(f, '/')+1:]
		return pooling.MatchString(last) && acquiring.MatchString(views.LastName(f)) && !givenWork.MatchString(last)
	}
	isFirst := len(p.Path) < 2 || p.Path[0] == p.Caller
	return takes(p.Function) || !isFirst && takes(p.Caller)
}

// fellows finds out what goroutines of a class do in a function,
// past the place where others wait in what it calls: if they
// share something, such as a pool of connections, those that
// have it do this. The loop of the class is no such function,
// and a goroutine alone has nobody to share with.
func (s *searcher) fellows(class int32, where *Place, of func(*situation) bool) []Cause {
	caller := where.Caller
	isLoop := s.isLoop(class, caller)
	if acquiring.MatchString(views.LastName(where.Function)) { // also if it does nothing else
		isLoop = s.e.classes[class].name == "go:"+caller
	}
	if caller == "" || isLoop || s.e.classes[class].goroutines < 2 {
		return nil
	}
	b := newBlamed(s.e)
	waits := 0.0
	for _, at := range s.members(class) {
		switch {
		case of(at):
			waits += at.weight
		case !at.idle && s.e.places.past(at.state.Stack, where.stack, caller):
			b.total += at.weight
			b.do(at, Fellow, at.weight)
		}
	}
	if b.total < min(waits, s.e.length)/2 { // while others wait, somebody has it
		return nil
	}
	causes := b.causes()
	if !takesSomething(where.Function) && !takesSomething(caller) && waitForOthers(causes) {
		return nil // it is the next step of the same work
	}
	return causes
}

// takesSomething reports whether a function takes something, for a
// while or for good, by its name.
func takesSomething(function string) bool {
	return acquiring.MatchString(views.LastName(function)) || views.TakesWork(function)
}

// waitForOthers reports whether goroutines mostly wait for others
// themselves, and hold up nobody as far as is known.
func waitForOthers(causes []Cause) bool {
	waits := 0.0
	for _, c := range causes {
		switch c.Activity {
		case Sending, Receiving, Selecting, Conditional, Joining:
			if !c.AwaitsServer() {
				waits += c.Share
			}
		}
	}
	return waits > sharesOf(causes)/2
}

// children finds out what goroutines do that those in the
// situations have started in the function in which they wait,
// such as one that does the work and sends the result, while the
// other one waits for it or for a deadline. Who lives on or
// waits for work sends no result.
func (e *evidence) children(of func(*situation) bool) []Cause {
	b := newBlamed(e)
	e.indexRuns()
	enclosing := make(map[string]string) // of the functions that start them
	for run := range e.runs(of) {
		if b.visits >= maxOverlaps {
			break // as in blame
		}
		b.total += e.between(run.First, run.Last)
		waits := views.Enclosing(e.places.at(run.Stack))
		in := func(function string) bool { // or in a closure, as in a sync.Once
			return lists.Made(enclosing, function,
				func() string { return views.Enclosing(function) }) == waits
		}
		those := b.startedIn(e.r.Goroutines.At(run.Goroutine).ID, in, run.First, run.Last)
		those = slices.DeleteFunc(those, func(g sampledata.GoroutineID) bool {
			return b.lastSample(g) > run.Last
		})
		for _, g := range those {
			b.overlap(g, 0, run.First, run.Last, Child, 1/float64(len(those)), maxBehind)
		}
	}
	return slices.DeleteFunc(b.causes(), func(c Cause) bool { return c.Activity == WaitsForWork })
}

// offspring finds out what goroutines do that those in the
// situations have started in another function, if these mostly
// begin and end with the wait. Waits in few samples don't show
// that.
func (e *evidence) offspring(of func(*situation) bool) []Cause {
	b := newBlamed(e)
	e.indexRuns()
	for run := range e.runs(of) {
		if b.visits >= maxOverlaps {
			break // as in blame
		}
		if run.Last-run.First < 3 {
			continue
		}
		b.total += e.between(run.First, run.Last)
		those := b.startedIn(e.r.Goroutines.At(run.Goroutine).ID, func(string) bool { return true }, run.First, run.Last)
		those = slices.DeleteFunc(those, func(g sampledata.GoroutineID) bool {
			first, last := e.r.Runs.At(int(e.runsOf[g][0])).First, b.lastSample(g)
			return first < run.First-1 || first > run.First+1 || last < run.Last-1 || last > run.Last+1
		})
		for _, g := range those {
			b.overlap(g, 0, run.First, run.Last, Meanwhile, 1/float64(len(those)), maxBehind)
		}
	}
	causes := slices.DeleteFunc(b.causes(), func(c Cause) bool { return c.Activity == WaitsForWork })
	if sharesOf(causes) < explains {
		return nil
	}
	return causes
}

// A family is goroutines that one has started in the same function.
type family struct {
	parent   int64
	function string
}

// leastSiblings is how long siblings live at least, in the time
// of those that may wait for them.
const leastSiblings = 0.1

// siblings finds out what other goroutines do that were started
// with those in the situations, such as the stages of a query,
// if all live for one piece of work. Some that hardly live tell
// nothing.
func (s *searcher) siblings(class int32, of func(*situation) bool) []Cause {
	if c := &s.e.classes[class]; 2*c.ended < c.goroutines {
		return nil
	}
	families := make(map[family]bool)
	familyOf := func(run sampledata.Run) family {
		g := s.e.r.Goroutines.At(run.Goroutine)
		return family{g.Parent, g.Site.Function}
	}
	waits := 0.0
	for run := range s.e.runs(ofClass(class, of)) {
		families[familyOf(run)] = true
		waits += s.e.between(run.First, run.Last)
	}
	b := newBlamed(s.e)
	others := func(at *situation) bool {
		c := &s.e.classes[at.class]
		return at.class != class && 2*c.ended >= c.goroutines
	}
	for run, at := range s.e.runs(others) {
		if families[familyOf(run)] {
			weight := s.e.between(run.First, run.Last)
			b.total += weight
			b.do(at, Sibling, weight)
		}
	}
	if b.total < leastSiblings*waits {
		return nil
	}
	return b.causes()
}
