package why

import (
	"cmp"
	"math"
	"slices"

	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// conclude reads signs, leaves out what other findings explain,
// ranks the rest, and sums up.
func (a *searched) conclude() {
	a.readSigns()
	a.order() // which of two findings that explain one another stays depends on it
	a.foldStuck()
	a.foldSpins()
	a.foldChains()
	a.foldWaits()
	a.foldLeaks()
	a.foldHeld()
	a.foldMaking()
	a.findBounds()
	a.signServers()
	a.signAsked()
	a.order()
	a.findGrowth()
	a.followLocks()
	slices.SortStableFunc(a.Hypotheses, func(x, y Hypothesis) int {
		return cmp.Or(cmp.Compare(y.severity, x.severity), cmp.Compare(x.key, y.key), cmp.Compare(x.Class, y.Class))
	})
	a.Resting, a.NotMoved = a.rest(), a.e.still(a.Findings)
	a.State, a.ForProcess = a.state(), a.forProcess()
	a.Work, a.HeapGrows = a.work(), a.e.heapGrowth()
	a.noteFolded()
}

// noteFolded notes the hypotheses that hold, and are no findings
// since others explain them.
func (a *searched) noteFolded() {
	for i := range a.Hypotheses {
		h := &a.Hypotheses[i]
		isFinding := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.key == h.key })
		if h.Verdict == hotspots.Yes && h.Note == "" && !isFinding {
			h.Note = "another finding explains it"
		}
	}
}

// explains is the share of the causes of one finding that
// another one covers if it explains the first.
const explains = 0.5

// foldChains leaves out locks whose holders mostly wait for
// another lock: the other lock is the reason.
func (a *searched) foldChains() {
	a.fold(func(f, other *Finding) bool {
		return f.Kind == LockKind && other.Kind == LockKind &&
			f.holders(other.covers) >= explains
	}, func(f, into *Finding) float64 {
		into.Chained = append(append(into.Chained, f.Lock), f.Chained...)
		return f.Severity
	})
}

// foldWaits leaves out waits for goroutines that are slow for a
// reason that is a finding itself. What a class shares is a reason
// of its own, as a lock is; who receives from its own class may wait
// for a result.
func (a *searched) foldWaits() {
	a.fold(func(f, other *Finding) bool {
		if f.Kind == ProcessorKind {
			return other.Kind == ThrottledKind || other.wastes() && other.Severity >= explains*a.ran
		}
		result := f.Kind == GroupKind || views.WaitingFor(f.Reason) == views.Receiving && !f.limits()
		if !result && f.shares() || f.Kind != ChannelKind && f.Kind != ConditionKind && f.Kind != GroupKind {
			return false
		}
		return shareWhere(f.Causes, func(c *Cause) bool {
			// a sibling that waits for a group may wait for these
			joins := c.Certainty == Sibling && c.Activity == Joining && f.Kind != GroupKind
			return !c.Certainty.isGuess() && !joins && other.covers(c)
		}) >= explains && (other.Kind != AllocationKind || a.mostlyAllocates(other))
	}, func(f, into *Finding) float64 {
		waits, where, part := &into.Behind, f.Where.Function, 1.0
		if f.Kind == ProcessorKind {
			waits = &into.Ready
			if into.Kind != ThrottledKind { // they wait for all that have the processors
				_, uses := weigh(a.e.situations, a.hits(into), (*situation).usesCPU)
				part = min(1, a.e.mean(uses)/max(a.ran, 1e-9))
			}
			if total, there := weigh(a.e.situations, a.hits(f), func(at *situation) bool { return a.on(at, where) }); 2*there < total {
				where = ""
			}
		}
		*waits = append(*waits, Part{Name: f.Class, Share: f.Share.Share, Where: where})
		into.Behind = append(into.Behind, f.Behind...)
		return part * f.Severity
	})
}

// mostlyAllocates reports whether allocation is most of what the class of
// a finding computes.
func (s *searcher) mostlyAllocates(f *Finding) bool {
	all, allocates := weigh(s.members(s.classOf(f)), (*situation).usesCPU, s.makesGarbage)
	return allocates >= explains*all
}

// wastes reports whether a finding is about use of the
// processors that can often be avoided: then that, and not their
// number, makes others wait.
func (f *Finding) wastes() bool {
	return f.Kind == AllocationKind || f.Kind == SystemCallKind || f.spins()
}

// foldLeaks leaves out the leak of a connection's writer, and of
// its server in the same program, if its reader leaks, too.
// It leaves out the waits of goroutines that
// leak, but not for a lock: who holds it says why they do. It
// leaves out the waits of a deadlock for its locks, and a leak of
// those that wait for one.
func (a *searched) foldLeaks() {
	a.leaveOut(func(f, other *Finding) bool {
		same := f.Class == other.Class && f.Where.Function == other.Where.Function
		switch {
		case f.Kind == LeakKind && other.Kind == DeadlockKind:
			if same && views.WaitingFor(f.Reason) == views.AwaitingLock {
				other.Growth = f.Growth
				return true
			}
		case f.Kind == LeakKind && other.Kind == LeakKind && other.Class == clientReads:
			server := f.Class == servesConnection &&
				(a.e.ownConnections() > 0 || a.e.hasMany() && other.Growth.near(f.Growth))
			return f.Class == clientWrites || server
		case other.Kind == LeakKind:
			return same && f.Kind != LeakKind && f.Kind != LockKind && f.Kind != DeadlockKind
		}
		return other.Kind == DeadlockKind && f.Kind == LockKind && other.hasLock(f)
	})
}

// leaveOut removes the findings that another one explains, also if
// that goes itself.
func (a *searched) leaveOut(explained func(f, other *Finding) bool) {
	all := a.Findings
	a.Findings = slices.DeleteFunc(slices.Clone(all), func(f *Finding) bool {
		return slices.ContainsFunc(all, func(other *Finding) bool { return explained(f, other) })
	})
}

// near reports whether two classes have about as many goroutines, from
// the beginning to the end.
func (g *Growth) near(other *Growth) bool {
	about := func(a, b int) bool { return 10*max(a, b) <= 11*min(a, b) }
	return g != nil && other != nil && about(g.From, other.From) && about(g.To, other.To)
}

// hasLock reports whether the lock of another finding is one of
// a deadlock. Of several locks of one name, just some may be:
// then the class that waits must be one of the deadlock's.
func (f *Finding) hasLock(wait *Finding) bool {
	ofClass := slices.ContainsFunc(f.Others, func(p Part) bool { return p.Name == wait.Class })
	return slices.ContainsFunc(f.Chained, func(lock string) bool {
		return lock == wait.Lock || ofClass && locks.FieldOf(lock) == wait.Lock
	})
}

// foldHeld leaves out system calls that are mostly what the
// holder of a lock does: the finding about the lock says so
// already. Code that computes while it holds a lock takes
// processors from others, too, and remains.
func (a *searched) foldHeld() {
	a.leaveOut(func(f, lock *Finding) bool {
		// in most of that time, others wait for a holder that does it
		return f.Kind == SystemCallKind && lock.Kind == LockKind &&
			f.covered(lock.Causes) >= explains*f.Mean
	})
}

// covers reports whether a finding is about what a cause does.
func (f *Finding) covers(c *Cause) bool {
	switch f.Kind {
	case LockKind:
		return c.Activity == Locked && c.Lock == f.Lock
	case ComputeKind, SystemCallKind, AllocationKind:
		runs := c.Activity == Computing || c.Activity == CallsKernel || c.Activity == NoCPU ||
			c.Activity == Ready
		return runs && (f.Kind == AllocationKind && f.Class == c.Class ||
			slices.Contains(c.Place.Path, f.Where.Function))
	case ChannelKind, ConditionKind, GroupKind, SleepKind, IOKind, BlockingKind,
		ForeignKind:
		return waitKinds[c.Activity] == f.Kind && c.Class == f.Class &&
			c.Place.Function == f.Where.Function
	}
	return false
}

// covered returns the share of the causes that a finding is
// about, but for mere guesses.
func (f *Finding) covered(causes []Cause) float64 {
	return shareWhere(causes, func(c *Cause) bool { return c.Certainty != Fellow && f.covers(c) })
}

// fold removes the findings that another one explains, and adds
// them to it. add returns how many goroutines wait for it, too. A
// finding that is explained explains nothing itself, so that two that
// explain one another do not both vanish. So those go first that explain
// no others.
func (a *searched) fold(explained func(f, other *Finding) bool, add func(f, into *Finding) float64) {
	gone := make(map[*Finding]bool)
	isReason := func(f *Finding) bool {
		return slices.ContainsFunc(a.Findings, func(g *Finding) bool { return g != f && !gone[g] && explained(g, f) })
	}
	for _, circles := range []bool{false, true} {
		for again := true; again; {
			again = false
			for _, f := range a.Findings {
				into := slices.IndexFunc(a.Findings, func(other *Finding) bool {
					return other != f && !gone[f] && !gone[other] && explained(f, other)
				})
				if into < 0 || !circles && isReason(f) {
					continue
				}
				gone[f], again = true, true
				a.Findings[into].Severity += add(f, a.Findings[into])
			}
		}
	}
	a.Findings = slices.DeleteFunc(a.Findings, func(f *Finding) bool { return gone[f] })
}

// minResting is the mean number of goroutines of a class from
// which it is worth mentioning that it is idle.
const minResting = 0.5

// leastPaused is the share of its life for which one goroutine
// sleeps in its work, if that is worth mentioning.
const leastPaused = 0.1

// stuckFew reports whether a finding is of goroutines that are stuck,
// and hardly any of their class are.
func (a *searched) stuckFew(f *Finding) bool {
	class, known := a.e.byName[f.Class]
	return f.Kind == StuckKind && known && 10*float64(f.Count) < a.e.mean(a.e.classes[class].life)
}

// rest returns the classes that wait, but are not slow.
func (a *searched) rest() (all []Resting) {
	slow := make(map[string]bool)
	for _, f := range a.Findings {
		if a.stuckFew(f) {
			continue
		}
		slow[f.Class] = true
		for _, o := range slices.Concat(f.Others, f.Behind, f.Ready) {
			slow[o.Name] = true
		}
		for _, c := range f.Causes { // who holds up others is no matter of course
			slow[c.Class] = slow[c.Class] || c.Certainty != Fellow && c.Certainty != Sibling
		}
	}
	for _, class := range a.asked {
		slow[class] = true
	}
	for i := range a.e.classes {
		c := &a.e.classes[i]
		alive := a.e.mean(c.life)
		if c.runtimes || slow[c.name] || alive < minResting {
			continue
		}
		r := Resting{Class: c.name, Alive: alive, Idle: 1 - c.active/c.life,
			Asleep: c.sleeps / c.life, Still: c.still / c.life, Ready: c.ready / c.life, Locked: c.locked / c.life,
			Polls: a.polls(int32(i), longSleep), Stuck: slices.Contains(a.meant, c.name)}
		if !r.Sleeps() {
			r.For = a.awaitsSleeper(int32(i))
		}
		for _, h := range a.Hypotheses {
			ofAll := h.Note != notMoved || r.NotMoved()
			if h.Class == c.name && h.Verdict == hotspots.Yes && h.Note != "" && ofAll {
				r.Does = h.Note
				sleeps := h.Kind == SleepKind || h.Kind == ChannelKind
				if paused := h.Share.Share * (1 - r.Idle); sleeps && h.Note == lonely && paused >= leastPaused && (c.name != mainClass || a.sleepsInLibrary(int32(i))) {
					r.Pauses, r.Paused = h.Where, paused
				}
				break
			}
		}
		mayAnswer := func(f *Finding) bool { return f.asksProgram() && f.mayAsk(c.name) }
		if (r.Does == lonely || r.Does == asksLonely) && slices.ContainsFunc(a.Findings, mayAnswer) {
			r.Does = "" // somebody may wait for it
		}
		all = append(all, r)
	}
	for i := range all {
		r := &all[i]
		if awaited := slices.ContainsFunc(all, func(other Resting) bool { return other.For == r.Class }); awaited && r.Polls == "" {
			r.Polls = a.polls(a.e.byName[r.Class], math.Inf(1))
		}
	}
	slices.SortFunc(all, func(x, y Resting) int {
		return cmp.Or(cmp.Compare(y.Alive, x.Alive), cmp.Compare(x.Class, y.Class))
	})
	return all
}

// awaitsSleeper returns the class that ends nearly all waits of a
// class for work, if it sleeps meanwhile; "" if there is none.
func (a *searched) awaitsSleeper(class int32) string {
	causes, _ := a.e.blame(ofClass(class, func(at *situation) bool { return at.idle }))
	if len(causes) == 0 {
		return ""
	}
	if c := causes[0]; c.Activity == Sleeping && c.Share >= mostOf && c.Class != a.e.classes[class].name {
		return c.Class
	}
	return ""
}

// polls returns the function of a library in which a class
// mostly sleeps to wait for work: what it then looks for may be
// late. A ticker, or a long sleep, is rather for what has to be done
// now and then, unless others wait for that.
func (a *searched) polls(class int32, long float64) string {
	if c := &a.e.classes[class]; c.sleeps < mostlySleeps*c.life {
		return ""
	}
	rests := func(at *situation) bool { return at.idle && sleeping(at) }
	sleeps, stays := 0.0, 0
	for _, at := range a.members(class) {
		if rests(at) {
			sleeps, stays = sleeps+at.weight, stays+at.stays
		}
	}
	at, reason := a.where(class, rests)
	if views.OfChannelTimer(reason) || !a.isLibrary(at) || sleeps >= long*float64(stays) {
		return ""
	}
	return at.Function
}

// sleepsInLibrary reports whether the work of a class mostly sleeps
// in a library.
func (a *searched) sleepsInLibrary(class int32) bool {
	at, _ := a.where(class, func(at *situation) bool { return !at.idle && sleeping(at) })
	return a.isLibrary(at)
}

// isLibrary reports whether a place is in another module than the program's.
func (a *searched) isLibrary(at Place) bool {
	if at.Function == "?" {
		return false
	}
	switch a.modules.Of(a.e.r.Nodes[a.e.places.own[at.stack]].Function) {
	case views.StdModule, views.OwnModule, a.modules.Main():
		return false
	}
	return true
}

// longSleep is how long each sleep takes, in nanoseconds, that is for a
// chore.
const longSleep = 1e9

// idleUse is the share of the processors, and of the goroutines'
// lives, below which a program without findings may be idle.
const idleUse = 0.2

// maxDoubt is how wide half the interval of the processors used
// may be, if a program is called balanced.
const maxDoubt = 0.15

// state sums up: the machine is no reason to call the program slow.
func (a *searched) state() State {
	own := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return !f.row().outside })
	switch {
	case own:
		return Slow
	case slices.ContainsFunc(a.Hypotheses, func(h Hypothesis) bool {
		return h.Verdict == hotspots.Maybe && h.Note == "" && !h.Kind.row().outside &&
			h.severity >= aProcessor && h.Share.Margin() > a.Threshold
	}):
		return Undecided
	case a.Few != nil || a.Used.Margin() > maxDoubt:
		return Undecided
	case max(a.Used.Share, a.Clock) >= idleUse:
		return Balanced
	case len(a.NotMoved) > 0:
		return Unmoved
	case a.restless() > idleUse:
		return Waiting
	}
	return Idle
}

// mostReasons is how long chains of reasons are that are put in order.
const mostReasons = 3

// order puts the findings first that cost most, but for what
// another one may be the reason of.
func (a *searched) order() {
	ranks := make(map[*Finding]float64)
	for _, f := range a.Findings {
		ranks[f] = f.rank()
	}
	for range mostReasons { // the reason of a reason comes before both
		for _, f := range a.Findings {
			for _, cause := range a.Findings {
				if f != cause && (a.mayCause(cause, f) || cause.outweighs(f)) {
					ranks[f] = min(ranks[f], math.Nextafter(ranks[cause], 0))
				}
			}
		}
	}
	slices.SortStableFunc(a.Findings, func(x, y *Finding) int {
		return cmp.Or(cmp.Compare(ranks[y], ranks[x]), cmp.Compare(y.rank(), x.rank()),
			cmp.Compare(x.key, y.key))
	})
}

// wholeProcessor is how many processors code takes at least that takes a
// whole one.
const wholeProcessor = 0.95

// outweighs reports whether code takes a whole processor or more, which
// matters more than one goroutine that was left behind.
func (f *Finding) outweighs(left *Finding) bool {
	return f.IsCode() && f.Mean >= wholeProcessor && left.Kind == StuckKind && left.Count == 1 && left.When.Always &&
		left.Stuck != nil && len(left.Stuck.Behind) == 0
}

// mayCause reports whether one finding may be the reason of
// another one. A server may be the reason of a wait that nobody
// is known to end; who can't write, of a standstill. Code of one
// class may be why another one waits for a processor, and why the
// same one does if the machine has no more, or why it waits, nobody
// knows for whom. What the program's own handlers do may be why their
// clients wait.
func (a *searched) mayCause(cause, f *Finding) bool {
	switch f.Kind {
	case StandstillKind:
		return cause.Kind == IOKind && a.mayHoldUp(cause, f)
	case ProcessorKind:
		covers := cause.covered(f.Causes) >= explains
		if a.e.crowd().hasAll() {
			return cause.Kind == ComputeKind && (covers || f.shareOf(cause.Class) >= explains)
		}
		return cause.Kind == ComputeKind && covers && cause.Class != f.Class
	}
	if f.asksProgram() {
		return !cause.row().outside && slices.ContainsFunc(append(names(slices.Concat(cause.Others, cause.Behind)), cause.Class), f.mayAsk)
	}
	return a.mayServe(cause, f) || a.mayKeepWaiting(cause, f)
}

// mayKeepWaiting reports whether code may be why others of its class
// wait, nobody knows for whom: the processors are full, and it takes
// much of them.
func (a *searched) mayKeepWaiting(code, f *Finding) bool {
	return f.unexplained() && len(f.Causes) == 0 && code.Kind == ComputeKind && code.Class == f.Class &&
		code.Mean >= mainPart*a.ran && a.allInUse(a.e.crowd())
}

// shareOf returns the share of a finding's causes that a class is.
func (f *Finding) shareOf(class string) float64 {
	return shareWhere(f.Causes, func(c *Cause) bool { return c.Class == class })
}

// rank orders findings: by severity, and by how specific they are.
func (f *Finding) rank() float64 { return f.Severity * f.specific }
