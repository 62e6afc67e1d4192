package views

// A spread is the division of one hit of a goroutine that runs
// or could run: typed[Run]/of, typed[Load]/of and typed[Prio]/of
// sum to 1, and waits divides the latter two by the classes that
// cause them. For example, a goroutine waits for one of two
// processors; one is held by a goroutine of class c, the other
// by a worker of the garbage collector. It has
//
//	typed: {Load: 1, Prio: 1}, of: 2
//	waits: {Load, to: c, heads: 1, 1/2}, {Prio, to: go:runtime.gcBgMarkWorker, heads: 1, 1/2}
type spread struct {
	typed [NumTypedTimes]int64
	of    int64
	waits []wait

	// The numbers of terms in a builder, if numbered is set.
	numbered bool
	term     int32 // of typed[Run]/of
}

// A wait adds num/den of a hit to :LOAD or :PRIO for each of a
// number of goroutines of one class.
type wait struct {
	typed    TypedTime // Load or Prio
	peers    bool      // the goroutine itself is one of them, and does not wait for itself
	to       classID   // or a child in place of a class
	heads    int64
	num, den int64
	term     int32
}

// forClass returns the number of heads that a goroutine of the
// given class waits for.
func (w *wait) forClass(own classID) int64 {
	if w.peers && w.to == own {
		return w.heads - 1
	}
	return w.heads
}

// A spreadKey has everything on which a spread depends within a
// sample: four times the priority, plus 2 if the actor executes,
// plus 1 if it has no CPU. Go's maps are fast for such keys.
type spreadKey int64

func (a *actor) spreadKey() spreadKey {
	k := spreadKey(a.priority) * 4
	if a.kind != ready {
		k += 2
	}
	if a.noCPU {
		k++
	}
	return k
}

// spread divides the time of an actor that runs or is runnable.
// The result is valid until the next sample.
//
// The garbage collector and a stopped world are above every
// goroutine (design "Typed time"). Workers of the collector have
// a higher priority. A stopped world takes all of a runnable
// goroutine's time under every accounting; the goroutines that
// still run in it share the processors among themselves.
func (sc *scene) spread(a actor) *spread {
	k, executes := a.spreadKey(), a.kind != ready
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
	case a.noCPU: // the same in every sample, too
		sp.set(Load, 1, 1)
		sp.waits = append(sp.waits,
			wait{typed: Load, to: noCPU.inPlaceOfClass(), heads: 1, num: 1, den: 1})
	case sc.o.Accounting == Observed && executes: // the same in every sample
		sp.set(Run, 1, 1)
	case sc.sample.StoppedWorld && !executes:
		sp.set(Prio, 1, 1)
		sp.waits = append(sp.waits,
			wait{typed: Prio, to: stoppedWorld.inPlaceOfClass(), heads: 1, num: 1, den: 1})
	case sc.o.Accounting == Observed:
		sp.observe(sc.held(), a.priority)
	case sc.o.Accounting == Single:
		sp.compete(sc.rivals(), a.priority, 1)
	default:
		sp.compete(sc.rivals(), a.priority, sc.processors())
	}
	return sp
}

// rivals returns the goroutines that share the processors of this sample.
func (sc *scene) rivals() *field {
	if sc.sample.StoppedWorld {
		return &sc.running
	}
	return &sc.runnable
}

// set assigns num/of of the hit to a typed time.
func (sp *spread) set(t TypedTime, num, of int64) { sp.typed[t], sp.of = num, of }

// observe divides the time of a runnable goroutine over the
// holders of the processors. A processor that is busy for the
// runtime is not available to any goroutine, so that its holder
// has a higher priority than all of them.
func (sp *spread) observe(held []slot, priority int64) {
	for _, s := range held {
		sp.of += s.n
	}
	for _, s := range held {
		t := Load
		if s.class == busyRuntime.inPlaceOfClass() ||
			s.class != idleProcessor.inPlaceOfClass() && s.priority > priority {
			t = Prio
		}
		sp.typed[t] += s.n
		sp.waits = append(sp.waits, wait{typed: t, to: s.class, heads: s.n, num: 1, den: sp.of})
	}
}

// compete divides the time of one of a field's goroutines as
// Table 1 of CPPROFJ does, for any number of processors. For
// example, of 3 processors a goroutine of higher priority takes
// one, and 2 are left for 5 equals. Each runs 2/5 of the time.
// The other 3/5 are :LOAD, caused by its 4 equals with 3/20
// each. If goroutines of higher priority take all processors,
// all its time is :PRIO, caused by them in equal parts.
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
