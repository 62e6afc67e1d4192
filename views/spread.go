package views

import "github.com/cpprof/cpprof/sampledata"

// A spread is how one hit of a goroutine that runs or could run is divided: typed[Run]/of, typed[Load]/of and typed[Prio]/of
// sum to 1, and waits list the latter two by whom they are owed to. For example, a goroutine that waits for one of two
// processors, held by a goroutine of class c and by a collector's worker, has
//
//	typed: {Load: 1, Prio: 1}, of: 2
//	waits: {Load, to: c, heads: 1, 1/2}, {Prio, to: go:runtime.gcBgMarkWorker, heads: 1, 1/2}
type spread struct {
	typed [NumTypedTimes]int64
	of    int64
	waits []wait

	// Terms of a builder's, once numbered says so.
	numbered bool
	term     int32 // of typed[Run]/of
}

// A wait gives num/den of a hit to :LOAD or :PRIO for each of a number of goroutines of one class.
type wait struct {
	typed    TypedTime // Load or Prio
	peers    bool      // the goroutine itself counts among them, and is not waited for
	to       classID   // or a child in place of a class
	heads    int64
	num, den int64
	term     int32
}

// forClass returns the number of heads that a goroutine of the given class waits for.
func (w *wait) forClass(own classID) int64 {
	if w.peers && w.to == own {
		return w.heads - 1
	}
	return w.heads
}

// A spreadKey is what a spread depends on within a sample.
type spreadKey struct {
	priority int64
	executes bool
}

// spread divides the time of an actor that runs or is runnable. The result holds until the next sample.
//
// Garbage collector and stopped world are above every goroutine (design "Typed time"): collector workers by
// their priority; a stopped world takes all of a runnable goroutine's time under every accounting, and those
// that still run in it share the processors among themselves.
func (sc *scene) spread(a actor) *spread {
	k := spreadKey{a.priority, a.run != sampledata.Runnable}
	if sp := sc.spreads[k]; sp != nil {
		return sp
	}
	sp := &spread{}
	if n := len(sc.spare); n > 0 {
		sp, sc.spare = sc.spare[n-1], sc.spare[:n-1]
		*sp = spread{waits: sp.waits[:0]}
	}
	sc.spreads[k] = sp
	switch {
	case sc.o.Accounting == Observed && k.executes: // in whatever sample
		sp.set(Run, 1, 1)
	case sc.sample.StoppedWorld && !k.executes:
		sp.set(Prio, 1, 1)
		sp.waits = append(sp.waits, wait{typed: Prio, to: stoppedWorld.inPlaceOfClass(), heads: 1, num: 1, den: 1})
	case sc.o.Accounting == Observed:
		sp.observe(sc.held(), a.priority)
	case sc.o.Accounting == Single:
		sp.compete(sc.rivals(), a.priority, 1)
	default:
		sp.compete(sc.rivals(), a.priority, sc.processors())
	}
	return sp
}

// rivals are those that share the processors of this sample.
func (sc *scene) rivals() *field {
	if sc.sample.StoppedWorld {
		return &sc.running
	}
	return &sc.runnable
}

// set gives num/of of the hit to a typed time.
func (sp *spread) set(t TypedTime, num, of int64) { sp.typed[t], sp.of = num, of }

// observe divides the time of a runnable goroutine over who holds the processors. One that is busy for the runtime
// can't be had by any goroutine, and so is held by what is above them all.
func (sp *spread) observe(held []slot, priority int64) {
	for _, s := range held {
		sp.of += s.n
	}
	for _, s := range held {
		t := Load
		if s.class == busyRuntime.inPlaceOfClass() || s.class != idleProcessor.inPlaceOfClass() && s.priority > priority {
			t = Prio
		}
		sp.typed[t] += s.n
		sp.waits = append(sp.waits, wait{typed: t, to: s.class, heads: s.n, num: 1, den: sp.of})
	}
}

// compete divides the time of one of a field's goroutines as Table 1 of CPPROFJ does, for any number of processors. For example,
// of 3 processors one is taken by a goroutine of higher priority; 2 are left for 5 equals. Each runs 2/5 of the time, and the
// other 3/5 are :LOAD, which it owes to its 4 equals: 3/20 to each. If goroutines of higher priority take all processors, all its
// time is :PRIO, owed to them in equal parts.
func (sp *spread) compete(f *field, priority, processors int64) {
	i, _ := f.find(priority)
	var above int64
	for _, l := range f.levels[:i] {
		above += l.n
	}
	left := processors - above
	if left <= 0 {
		sp.set(Prio, 1, 1)
		for _, l := range f.levels[:i] {
			sp.waitFor(l, wait{typed: Prio, num: 1, den: above})
		}
		return
	}
	equals := f.levels[i].n
	if left >= equals {
		sp.set(Run, 1, 1)
		return
	}
	sp.set(Run, left, equals)
	sp.set(Load, equals-left, equals)
	num, den := equals-left, equals*(equals-1)
	g := gcd(num, den)
	sp.waitFor(f.levels[i], wait{typed: Load, peers: true, num: num / g, den: den / g})
}

func (sp *spread) waitFor(l *level, w wait) {
	for _, r := range l.rivals {
		if r.n > 0 {
			w.to, w.heads = r.class, r.n
			sp.waits = append(sp.waits, w)
		}
	}
}
