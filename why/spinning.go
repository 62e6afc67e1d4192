package why

import (
	"regexp"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// gosched is what loops call that spin: they give way to others,
// if there are any, and look again.
const gosched = "runtime.Gosched"

// givesWay reports whether a stack has that function.
func (p *places) givesWay(stack sampledata.NodeID) bool {
	return p.spins && p.through(stack, gosched)
}

// A spinner is a class, and the function in which it gives way.
type spinner struct {
	class int32
	place string
}

// spinners returns who gives way and does hardly anything else
// there: what they compute is the loop's own code, and they hardly
// wait. Others give way between two pieces of work, or before a wait.
func (e *evidence) spinners() map[spinner]bool {
	if e.spins != nil {
		return e.spins
	}
	e.spins = make(map[spinner]bool)
	if !e.places.spins {
		return e.spins
	}
	for _, at := range e.situations {
		if e.places.givesWay(at.state.Stack) && !e.classes[at.class].runtimes {
			e.spins[spinner{at.class, e.places.at(at.state.Stack)}] = true
		}
	}
	for who := range e.spins {
		there := func(at *situation) bool {
			return at.state.Doing.Executes() && e.places.through(at.state.Stack, who.place)
		}
		computes, itself := weigh(e.situations, ofClass(who.class, there),
			func(at *situation) bool { return e.places.at(at.state.Stack) == who.place })
		e.spins[who] = itself > computes/2 && !e.waitsAt(who)
	}
	return e.spins
}

// waitsAt reports whether who gives way in a function often waits in
// it, too.
func (e *evidence) waitsAt(who spinner) bool {
	there := func(at *situation) bool { return e.places.at(at.state.Stack) == who.place }
	_, waits := weigh(e.situations, ofClass(who.class, there), (*situation).waits)
	_, gives := weigh(e.situations, ofClass(who.class, there),
		func(at *situation) bool { return e.places.givesWay(at.state.Stack) })
	return waits > fewWaits*gives
}

// spinsAt reports whether the goroutines of a situation give way
// in a loop that spins.
func (e *evidence) spinsAt(at *situation) bool {
	return e.places.givesWay(at.state.Stack) &&
		e.spinners()[spinner{at.class, e.places.at(at.state.Stack)}]
}

// spinning returns the share of a finding in loops that spin.
func (s *searcher) spinning(f *Finding) float64 {
	all, spins := weigh(s.e.situations, s.hits(f), s.e.spinsAt)
	return spins / max(all, 1)
}

// spinCandidates returns a hypothesis for each function of the
// program in which goroutines spin.
func (s *searcher) spinCandidates() (all []*candidate) {
	byPlace := grouped(s.e, func(at *situation) (string, bool) {
		return s.e.places.at(at.state.Stack), s.e.spinsAt(at)
	})
	for place, by := range byPlace {
		all = append(all, s.suffering(newFinding(SpinKind, place), by, func(at *situation) bool {
			return s.e.spinsAt(at) && s.e.places.at(at.state.Stack) == place
		}))
	}
	return all
}

func (s *searcher) spinHits(f *Finding) func(*situation) bool {
	return ofClass(s.classOf(f), func(at *situation) bool {
		return s.e.places.givesWay(at.state.Stack) && s.on(at, f.Where.Function)
	})
}

func (s *searcher) spinMeasure(f *Finding) *Measure {
	return measureOf(f.Class, through(f.Where.Function)+" .."+gosched)
}

// foldSpins leaves out what a loop computes that gives way again
// and again.
func (a *searched) foldSpins() {
	a.fold(func(f, other *Finding) bool {
		return f.spins() && other.Kind == SpinKind && f.Kind != SpinKind && f.Class == other.Class
	}, func(f, _ *Finding) float64 { return f.Mean })
}

// What shows that a loop spins. Its turns are no work, so it is
// not known what the program would do instead.
const (
	givesWay   = "it spins: it gives way with runtime.Gosched, and looks again"
	looksAgain = "it spins: it looks at channels again and again, and hardly ever waits for them"
)

// spins reports whether a finding is a loop that spins.
func (f *Finding) spins() bool {
	return f.Kind == SpinKind || slices.Contains(f.Signs, givesWay) || slices.Contains(f.Signs, looksAgain)
}

// polling matches what goroutines run that look at channels.
var polling = regexp.MustCompile(`^runtime\.(selectgo|selectnb\w+|chanrecv\d?|chansend\d?)$`)

// What looks at one channel, and what it calls only if the channel
// has a value, or takes one: a free list is no loop that spins.
var (
	looked = named(`runtime\.selectnb(send|recv)`)
	passed = named(`runtime\.(lock|unlock|typedmemmove|recv|send)\w*`)
)

// leastPassed is the share of looks at one channel from which
// these mostly find what they look for: it takes longer.
const leastPassed = 0.1

// polls reports whether the goroutines of a finding look at
// channels for much of it, and hardly ever wait: for little of
// their life, or once, such as before the first work comes.
func (s *searcher) polls(f *Finding) bool {
	class := s.classOf(f)
	life, waits := weigh(s.members(class), anywhere,
		func(at *situation) bool { return at.state.Doing.Waits() })
	c := &s.e.classes[class]
	often := waits > 0.02*life && (c.ends() || s.waitsAnew(class) > max(1, c.goroutines/10))
	if often || s.doing(f, polling) < 0.25 {
		return false
	}
	all, _ := weigh(s.members(class), s.within(polling), anywhere)
	looks, passes := weigh(s.members(class), s.within(looked), s.within(passed))
	return looks <= all/2 || passes <= leastPassed*looks
}

// waitsAnew returns how often goroutines of a class that had
// been seen were seen to begin to wait.
func (s *searcher) waitsAnew(class int32) (n int) {
	last := make(map[sampledata.GoroutineID]bool) // it waits
	for run := range s.e.runs(ofClass(class, anywhere)) {
		waits := views.DoingOf(run).Waits()
		if before, seen := last[run.Goroutine]; seen && waits && !before {
			n++
		}
		last[run.Goroutine] = waits
	}
	return n
}
