package why

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// A goroutine that gathers work until a time, such as a batch, looks
// idle: it waits for more of it. Whoever has given it work waits
// meanwhile. So both are seen together, and hardly ever apart.

const (
	gathersThen = 0.25 // the share of the others' waits with it, at least
	gathersElse = 0.1  // the share of the other time, at most
	minWaits    = 10   // that were seen to begin
)

// A restingPlace is where a goroutine alone waits for work in a
// select, which may have a timer, or sleeps.
type restingPlace struct {
	class int32
	at    sampledata.NodeID
	does  views.Doing
}

func (s *searcher) restingPlace(at *situation) (p restingPlace, ok bool) {
	does := at.state.Doing
	timed := does == views.Selecting || does == views.Sleeping
	if !at.idle || !timed || s.e.mean(s.e.classes[at.class].life) > 1.5 {
		return restingPlace{}, false
	}
	own := s.e.places.own[at.state.Stack]
	return restingPlace{at.class, own, does}, views.IsOwn(s.e.places.function(own))
}

// restsAt observes a goroutine in a resting place.
func (s *searcher) restsAt(p restingPlace) []hotspots.Observation {
	return s.e.observe([]question{{hit: func(at *situation) bool {
		other, rests := s.restingPlace(at)
		return rests && other == p
	}}})[0]
}

// signGatherer adds a sign to waits that nobody is known to end, if
// a goroutine rests in one place meanwhile, and hardly ever else.
func (a *searched) signGatherer(f *Finding) {
	waits := a.observed(f)
	if waits == nil || f.Phase || !f.unexplained() {
		return
	}
	sign := ""
	if begins(waits) >= minWaits {
		sign = a.gatherer(waits)
	}
	if sign == "" && a.loneWaits(f, a.worksOrAsks) >= isSign {
		f.guessed = true // whether or not somebody can be named
		sign = cmp.Or(a.method(f, waits), a.sleepers(f, waits))
	}
	if sign != "" {
		f.Signs, f.guessed = append(f.Signs, sign), true
	}
}

// gatherer names a goroutine that rests in one place while others
// wait, and hardly ever else; "" if there is none.
func (a *searched) gatherer(waits []hotspots.Observation) (sign string) {
	wait := func(i int) bool { return waits[i].Hits > 0 }
	rest := func(i int) bool { return waits[i].Hits == 0 }
	waited, best := shareOf(waits, always).Share, 0.0
	for p, by := range grouped(a.e, a.restingPlace) {
		share := by.total() / a.e.length
		if share > waited+gathersElse || share < gathersThen*waited {
			continue // most rest at other times, too
		}
		there := a.restsAt(p)
		then := shareOf(there, wait)
		if then.Low < gathersThen || shareOf(there, rest).High > gathersElse || then.Share < best {
			continue
		}
		when := "meanwhile"
		if then.Share < mostOf {
			when = "for a part of that time"
		}
		says := fmt.Sprintf("%s, and hardly ever else, %s %s, in %s: it may gather work, or wait with them",
			when, a.e.classes[p.class].name, p.does.Words(), a.e.places.function(p.at))
		if then.Share > best || says < sign { // of two, always the same
			best, sign = then.Share, says
		}
	}
	return sign
}

// method names a goroutine that rests in a method while others
// wait in one of the same type; "" if there is none, or several.
// The waits need not end in between.
func (a *searched) method(f *Finding, waits []hotspots.Observation) (sign string) {
	typ := receiver(f.Where.Function)
	if typ == "" {
		return ""
	}
	wait := func(i int) bool { return waits[i].Hits > 0 }
	for p := range grouped(a.e, a.restingPlace) {
		method := a.e.places.function(p.at)
		if receiver(method) != typ {
			continue
		}
		switch then := shareOf(a.restsAt(p), wait); {
		case then.Low < mostOf:
		case sign != "":
			return "" // of two, nobody knows which
		default:
			sign = fmt.Sprintf("meanwhile, %s %s, in %s, a method of the same type: it may gather work until a time",
				a.e.classes[p.class].name, p.does.Words(), method)
		}
	}
	return sign
}

// Goroutines that sleep, and wake again and again.
const (
	sleepMost = 0.5 // of their life at least
	wakeOften = 2   // times in the recording, for half of them at least
	fewSleep  = 2   // classes, if it is worth naming them
)

// sleepers names those that sleep, and wake again and again: what
// others wait for may be what they do then. "" if there are none, or
// too many to tell.
func (a *searched) sleepers(f *Finding, waits []hotspots.Observation) string {
	var names []string
	for i := range a.e.classes {
		c := &a.e.classes[i]
		if c.name == f.Class || !a.wakesAgain(int32(i)) {
			continue
		}
		meanwhile := a.e.observe([]question{{hit: ofClass(int32(i), sleeping)}})[0]
		if shareOf(meanwhile, func(k int) bool { return waits[k].Hits > 0 }).Low >= sleepMost && a.mayEnd(int32(i), f) {
			names = append(names, c.name)
		}
	}
	if len(names) == 0 || len(names) > fewSleep {
		return ""
	}
	slices.Sort(names)
	verb := " sleeps, and wakes again and again: what it does then may end the wait"
	if len(names) > 1 {
		verb = " sleep, and wake again and again: what they do then may end the wait"
	}
	return "meanwhile, " + strings.Join(names, " and ") + verb
}

// mayEnd reports whether goroutines of a class that sleeps may end the
// waits of a finding: hardly any ends while they sleep on.
func (s *searcher) mayEnd(class int32, f *Finding) bool {
	awake := make(map[int32]bool) // between this sample and the next one
	for run, at := range s.e.runs(ofClass(class, anywhere)) {
		awake[run.First-1], awake[run.Last] = true, true
		for k := run.First; !sleeping(at) && k < run.Last; k++ {
			awake[k] = true
		}
	}
	ended, then := 0, 0
	for run := range s.e.runs(s.hits(f)) {
		if run.Last >= s.e.to-1 {
			continue
		}
		if ended++; awake[run.Last] {
			then++
		}
	}
	return float64(then) >= mostOf*float64(ended)
}

func sleeping(at *situation) bool { return at.state.Doing == views.Sleeping }

// wakesAgain reports whether goroutines of a class of the program mostly
// sleep, and wake again and again.
func (s *searcher) wakesAgain(class int32) bool {
	c := &s.e.classes[class]
	_, asleep := weigh(s.members(class), anywhere, sleeping)
	return !c.runtimes && c.name != mainClass && asleep >= sleepMost*c.life && s.wakeOften(class)
}

// wakeOften reports whether most goroutines of a class sleep again
// and again.
func (s *searcher) wakeOften(class int32) bool {
	times := make(map[sampledata.GoroutineID]int)
	for run := range s.e.runs(ofClass(class, sleeping)) {
		times[run.Goroutine]++
	}
	often := 0
	for _, n := range times {
		if n >= wakeOften {
			often++
		}
	}
	return 2*often >= s.e.classes[class].goroutines
}

// receiver returns the type of a method, with its package:
// "main.(*queue)"; "" if the function has none.
func receiver(function string) string {
	typ, _, _ := strings.Cut(function, ").")
	if len(typ) == len(function) {
		return ""
	}
	return typ + ")"
}

// begins returns how often goroutines were seen to begin to wait
// when none had waited.
func begins(waits []hotspots.Observation) (n int) {
	for i := range waits[1:] {
		if waits[i].Hits == 0 && waits[i+1].Hits > 0 {
			n++
		}
	}
	return n
}

// isAlone returns the share of a finding's waits in which nobody
// else is at work, or sleeps where it may be at work.
func (s *searcher) isAlone(f *Finding) float64 {
	return s.loneWaits(f, func(at *situation) bool { return s.worksOrAsks(at) || s.maySleepAtWork(f, at) })
}

// worksOrAsks reports whether goroutines are at work, or wait for
// the answer of a server.
func (s *searcher) worksOrAsks(at *situation) bool { return s.isAtWork(at) || s.asksServer(at) }

// maySleepAtWork reports whether goroutines of another class than
// a finding's sleep, and not where they wait for work. A main
// goroutine leaves the work to others.
func (s *searcher) maySleepAtWork(f *Finding, at *situation) bool {
	name := s.e.name(at)
	return at.state.Doing == views.Sleeping && !at.idle && !at.still && name != f.Class && name != mainClass
}

// loneWaits returns the share of a finding's waits in which there are
// no situations of a kind, if it is nearly all, and nobody is known
// to end the waits.
func (s *searcher) loneWaits(f *Finding, is func(*situation) bool) float64 {
	if !f.unexplained() || f.Phase || s.inCalls() {
		return 0
	}
	waits, alone := 0.0, 0.0
	for _, o := range s.e.observe([]question{{hit: is, base: s.hits(f)}})[0] {
		waits += o.Weight * o.Base
		if o.Hits == 0 {
			alone += o.Weight * o.Base
		}
	}
	if alone < nearlyAlways*waits {
		return 0
	}
	return alone / max(waits, 1)
}
