package why

import (
	"cmp"
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
// that the channel's goroutines have to wait for all of it. Who
// was seen at channels counts while others wait for one of these.
func (e *evidence) peers(of func(*situation) bool, receive bool) []Cause {
	waited, own := make(map[uint64][]phase), make(map[int32]bool)
	for run, at := range e.runs(of) {
		if c := at.state.Channel; c != 0 {
			waited[c] = append(waited[c], phase{run.First, run.Last + 1})
			own[at.class] = true
		}
	}
	for c, spans := range waited {
		waited[c] = union(spans)
	}
	// by goroutine that was seen at channels: when others wait there
	classes, spans := make(map[int32]bool), make(map[sampledata.GoroutineID][]phase)
	known := make(map[sampledata.GoroutineID]map[uint64]bool)
	for run, at := range e.runs((*situation).atChannel) {
		c, g, sends := at.state.Channel, run.Goroutine, at.state.Doing == views.Sending
		if own[at.class] || sends != receive {
			continue
		}
		classes[at.class] = classes[at.class] || waited[c] != nil
		if known[g] == nil {
			known[g] = make(map[uint64]bool)
		}
		if !known[g][c] {
			known[g][c] = true
			spans[g] = append(spans[g], waited[c]...)
		}
	}
	for g := range spans {
		spans[g] = union(spans[g])
	}
	b := newBlamed(e)
	for run, at := range e.runs(func(at *situation) bool { return classes[at.class] }) {
		weight := e.between(run.First, run.Last)
		if known[run.Goroutine] != nil {
			weight = e.weightIn(run, spans[run.Goroutine])
		}
		b.total += weight
		b.do(at, OtherSide, weight)
	}
	return b.causes()
}

// atChannel reports whether goroutines wait for a channel, or rest
// at one.
func (s *situation) atChannel() bool {
	return s.state.Doing.Waits() && (s.state.Doing.OfChannel() || s.idle && s.state.Channel != 0)
}

// union joins spans of samples, and puts them in order.
func union(spans []phase) (all []phase) {
	slices.SortFunc(spans, func(a, b phase) int { return cmp.Compare(a.from, b.from) })
	for _, s := range spans {
		if last := len(all) - 1; last >= 0 && s.from <= all[last].to {
			all[last].to = max(all[last].to, s.to)
			continue
		}
		all = append(all, s)
	}
	return all
}

// weightIn returns the weight of a run's samples in spans, which are in
// order and apart.
func (e *evidence) weightIn(run sampledata.Run, spans []phase) (weight float64) {
	first, _ := slices.BinarySearchFunc(spans, run.First, func(s phase, at int32) int { return cmp.Compare(s.to, at+1) })
	for _, s := range spans[first:] {
		if s.from > run.Last {
			break
		}
		weight += e.between(max(s.from, run.First), min(s.to-1, run.Last))
	}
	return weight
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
// have it do this. A place in a pool may be kept by a caller further out.
// The loop of the class is no such function, and a goroutine alone has
// nobody to share with.
func (s *searcher) fellows(class int32, where *Place, of func(*situation) bool) []Cause {
	if where.Caller == "" || s.e.classes[class].goroutines < 2 {
		return nil
	}
	acquires := acquiring.MatchString(views.LastName(where.Function))
	isLoop := func(caller string) bool {
		n := s.e.r.Innermost(where.stack, func(name string) bool { return name == caller })
		inLibrary := n != sampledata.NoStack && s.modules.Of(s.e.r.Nodes[n].Function) != s.modules.Main()
		if acquires && (caller == where.Caller || inLibrary) { // also if it does nothing else
			return s.e.classes[class].name == "go:"+caller
		}
		return s.isLoop(class, caller)
	}
	callers := []string{where.Caller}
	if where.takesPlace() {
		callers = where.Path[:len(where.Path)-1]
	}
	for _, caller := range slices.Backward(callers) {
		if isLoop(caller) {
			return nil
		}
		if b := s.further(class, where, caller, of); b != nil {
			causes := b.causes()
			for i := range causes {
				causes[i].Taken = caller
			}
			if !takesSomething(where.Function) && !takesSomething(caller) && waitForOthers(causes) {
				return nil // it is the next step of the same work
			}
			return causes
		}
	}
	return nil
}

// further sums up what goroutines of a class do in a function, past the
// place where others wait in what it calls; nil if, while these wait,
// mostly nobody does.
func (s *searcher) further(class int32, where *Place, caller string, of func(*situation) bool) *blamed {
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
	return b
}

// mostHolding is the mean number of goroutines that hold a lock, at most.
const mostHolding = 1.1

// mayHold finds out what goroutines of a class do while others of it
// wait for a lock, if one at a time is further on in a function in
// which these wait: it may have the lock, and give it back later.
func (s *searcher) mayHold(f *Finding, waits func(*situation) bool) []Cause {
	class, path := s.classOf(f), f.Where.Path
	if s.e.classes[class].goroutines <= 2 {
		return nil // where one of two is says nothing
	}
	for i := len(path) - 2; i >= 0; i-- {
		beyond := ofClass(class, func(at *situation) bool {
			return !at.idle && !at.still && !waits(at) && s.e.places.past(at.state.Stack, f.Where.stack, path[i])
		})
		if float64(s.samplesOf(beyond)) < mostOf*float64(s.e.to-s.e.from) {
			continue
		}
		b := newBlamed(s.e)
		for _, at := range s.members(class) {
			if beyond(at) {
				b.total += at.weight
				b.do(at, Fellow, at.weight)
			}
		}
		if b.total > mostHolding*s.e.length {
			return nil
		}
		return b.causes()
	}
	return nil
}

// takesSomething reports whether a function takes something, for a
// while or for good, by its name.
func takesSomething(function string) bool {
	return acquiring.MatchString(views.LastName(function)) || views.TakesWork(function)
}

// waitForOthers reports whether goroutines mostly wait for others
// themselves, and hold up nobody as far as is known.
func waitForOthers(causes []Cause) bool {
	waits := doing(Sending, Receiving, Selecting, Conditional, Joining)
	share := shareWhere(causes, func(c *Cause) bool { return waits(c) && !c.AwaitsServer() })
	return share > sharesOf(causes)/2
}

// children finds out what goroutines do that those in the
// situations have started in the function in which they wait,
// such as one that does the work and sends the result, while the
// other one waits for it or for a deadline. Who lives on or
// waits for work sends no result.
func (e *evidence) children(of func(*situation) bool) []Cause {
	known := make(map[string]string)
	enclosing := func(function string) string { // or a closure, as in a sync.Once
		return lists.Made(known, function, func() string { return views.Enclosing(function) })
	}
	return e.doingOfStarted(of, Child, 0, func(run sampledata.Run, g sampledata.GoroutineID) bool {
		_, last := e.life(g)
		starts := e.r.Goroutines.At(g).Site.Function
		return last <= run.Last && enclosing(starts) == enclosing(e.places.at(run.Stack))
	})
}

// doingOfStarted finds out what goroutines do that those in the
// situations have started, if these wait for them. Waits of less
// than some samples don't count.
func (e *evidence) doingOfStarted(of func(*situation) bool, certain Certainty, least int32,
	are func(wait sampledata.Run, g sampledata.GoroutineID) bool) []Cause {
	b := newBlamed(e)
	e.indexRuns()
	for run := range e.runs(of) {
		if b.visits >= maxOverlaps {
			break // as in blame
		}
		if run.Last-run.First < least {
			continue
		}
		b.total += e.between(run.First, run.Last)
		those := b.startedIn(e.r.Goroutines.At(run.Goroutine).ID,
			func(string) bool { return true }, run.First, run.Last)
		those = slices.DeleteFunc(those,
			func(g sampledata.GoroutineID) bool { return !are(run, g) })
		for _, g := range those {
			b.overlap(g, 0, run.First, run.Last, certain, 1/float64(len(those)), maxBehind)
		}
	}
	return slices.DeleteFunc(b.causes(), func(c Cause) bool { return c.Activity == WaitsForWork })
}

// offspring finds out what goroutines do that those in the
// situations have started in another function, if these mostly
// begin and end with the wait. Waits in few samples don't show
// that.
func (e *evidence) offspring(of func(*situation) bool) []Cause {
	near := func(a, b int32) bool { return a-1 <= b && b <= a+1 }
	are := func(run sampledata.Run, g sampledata.GoroutineID) bool {
		first, last := e.life(g)
		return near(first, run.First) && near(last, run.Last)
	}
	causes := e.doingOfStarted(of, Meanwhile, 3, are)
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
