package views

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// A scene has the states of all goroutines in the current sample
// of a walk, as far as they affect one another's time.
type scene struct {
	r        *sampledata.Recording
	o        Options
	classes  *classes
	idleness *idleness
	creators *creators // nil unless goroutines are charged to those who started them

	weights sampledata.Weights
	now     int32
	sample  sampledata.Sample // the sample at now
	// by goroutine: the run that it last began, if there was one
	run []int32
	// by goroutine: the last sample of that run; -1 if there is none
	last      []int32
	holder    []bool                          // by goroutine: whether a holder set contains it
	executing map[sampledata.GoroutineID]bool // Running, or Detached
	// number of these whose threads wait for a CPU; 0 unless Observed
	noCPU int64
	// competitors for processors: Runnable, Running, Detached; not under
	// Observed
	runnable field
	// the same without Runnable: those that compete in a stopped world
	running field

	slots   []slot // of the current sample, computed on first use
	slotsOf int32
	allowed usable                // processors, at once
	spreads map[spreadKey]*spread // of the current sample
	spare   []*spread
}

// An actor has everything that decides one goroutine's typed
// time in one sample. Equal actors have equal times, whatever
// their stacks are.
type actor struct {
	class    classID
	priority int64
	kind     runKind
	// it has a processor, but its thread waits for a CPU; false
	// unless Observed
	noCPU   bool
	holders sampledata.HolderSetID // of the lock that it waits for, if they are blamed; else 0
	free    bool                   // nobody holds the lock that it waits for
	// the goroutine, if others may wait for it, so that a cycle
	// may close there; else nobody
	who     sampledata.GoroutineID
	reason  string             // of a Waiting goroutine
	release sampledata.Release // of a Waiting or Blocked goroutine
	// that a Blocked goroutine waits for; "" unless Options.Lock names it
	lock string
	by   linkID // where it was started; noLink unless Options.CreatedBy
}

// nobody is no particular goroutine.
const nobody sampledata.GoroutineID = -1

func newScene(r *sampledata.Recording, o Options) *scene {
	sc := &scene{
		r: r, o: o, classes: newClasses(r, o), idleness: newIdleness(r, o), weights: r.Weights(),
		slotsOf: -1, allowed: allowedCPUs(r),
	}
	if o.CreatedBy {
		sc.creators = newCreators(r, sc.classes)
	}
	sc.executing = make(map[sampledata.GoroutineID]bool)
	sc.spreads = make(map[spreadKey]*spread)
	sc.run = make([]int32, r.Goroutines.Len())
	sc.last = slices.Repeat([]int32{-1}, r.Goroutines.Len())
	sc.holder = r.Held()
	return sc
}

// observed returns what is observed of a goroutine in a number of samples.
func (sc *scene) observed(first, samples int32) observed {
	return observed{int64(samples), sc.weights.Of(int(first), int(first+samples))}
}

// actor returns the actor for a run's goroutine.
func (sc *scene) actor(run sampledata.Run) actor {
	a := actor{class: sc.classes.of(run), kind: kindOf(run), who: nobody, release: run.Release}
	if sc.creators != nil {
		a.by = sc.creators.of[run.Goroutine]
	}
	switch a.kind {
	case waiting:
		a.reason = run.Reason
	case locked:
		if run.Evidence.Blames() {
			a.holders = run.Holders
		}
		a.free = run.Evidence == sampledata.Free
		if sc.o.Lock != nil {
			a.lock = sc.o.Lock(run)
		}
		if a.holders != 0 && sc.holder[run.Goroutine] {
			a.who = run.Goroutine
		}
	default:
		a.priority = sc.classes.priority(run)
		a.noCPU = sc.waitsForCPU(run)
	}
	return a
}

// waitsForCPU reports whether a run's goroutine executes for the
// Go scheduler only, since its thread waits for a CPU. The
// accountings other than Observed do not ask who executes.
func (sc *scene) waitsForCPU(run sampledata.Run) bool {
	return run.NoCPU && sc.o.Accounting == Observed
}

// constant reports whether an actor's time is the same in all
// samples, whatever the other goroutines do.
func (sc *scene) constant(a actor) bool {
	switch a.kind {
	case ready:
		return false
	case executing:
		return sc.o.Accounting == Observed
	case locked:
		return a.holders == 0
	}
	return true
}

// begin records run i, and reports whether end must be called at its end.
func (sc *scene) begin(i int32, run sampledata.Run) bool {
	sc.run[run.Goroutine], sc.last[run.Goroutine] = i, run.Last
	if kindOf(run) == executing {
		sc.executing[run.Goroutine] = runStates[run.Run].holds
	}
	return sc.compete(run, 1, (*field).enter)
}

// end reverts begin.
func (sc *scene) end(run sampledata.Run) {
	delete(sc.executing, run.Goroutine)
	sc.compete(run, -1, (*field).leave)
}

// compete counts a goroutine among those that use processors, or
// wait for one, or doesn't count it any more. It returns false if
// it does neither.
func (sc *scene) compete(run sampledata.Run, by int64,
	change func(f *field, class classID, priority int64)) bool {
	kind := kindOf(run)
	executes := kind == executing
	if executes && sc.waitsForCPU(run) {
		sc.noCPU += by
	}
	if sc.o.Accounting == Observed || !executes && kind != ready {
		return executes
	}
	a := sc.actor(run)
	change(&sc.runnable, a.class, a.priority)
	if executes {
		change(&sc.running, a.class, a.priority)
	}
	return true
}

// moveTo moves the scene to sample s.
func (sc *scene) moveTo(s int32) {
	sc.now, sc.sample = s, sc.r.Samples.At(int(s))
	for _, sp := range sc.spreads {
		sc.spare = append(sc.spare, sp)
	}
	clear(sc.spreads)
}

// counts reports whether the time of a run counts that was begun
// last of its goroutine's runs.
func (sc *scene) counts(run sampledata.Run) bool { return sc.r.Counts(int(sc.run[run.Goroutine])) }

// at returns the run that a goroutine is in; false if it doesn't
// exist in this sample.
func (sc *scene) at(g sampledata.GoroutineID) (run sampledata.Run, exists bool) {
	if !sc.exists(g) {
		return run, false
	}
	return sc.r.Runs.At(int(sc.run[g])), true
}

// exists reports whether a goroutine exists in this sample.
func (sc *scene) exists(g sampledata.GoroutineID) bool { return sc.last[g] >= sc.now }

// processors returns how many processors can be used in this sample.
func (sc *scene) processors() int64 {
	return sc.allowed.of(int(sc.now), processorsIn(sc.r, len(sc.sample.Processors)))
}

// capacity returns what the sample adds to the denominator of
// the Server View.
func (sc *scene) capacity() int64 {
	if sc.o.Accounting == Single {
		return 1
	}
	return max(sc.processors(), int64(len(sc.executing))-sc.noCPU)
}

// A slot is n processors with the same holder: goroutines of one
// class and priority, or nobody.
type slot struct {
	class    classID // or idleProcessor or busyRuntime instead of a class
	priority int64
	n        int64
}

// held returns the holders of all processors in this sample. The
// list of processors comes first. Running goroutines that it
// does not name hold processors that it calls idle. Of these, no
// more are idle than can be used.
func (sc *scene) held() []slot {
	if sc.slotsOf == sc.now {
		return sc.slots
	}
	sc.slots, sc.slotsOf = sc.slots[:0], sc.now
	listed := sc.sample.Processors
	idle, busy := max(0, sc.processors()-int64(len(listed))), int64(0)
	named := 0 // running goroutines among the listed
	for _, g := range listed {
		switch {
		case g == sampledata.SystemProcessor:
			sc.hold(busyRuntime.inPlaceOfClass(), 0, 1)
			busy++
		case g < 0 || !sc.exists(g):
			idle++
		default:
			sc.holdBy(g)
			busy++
			if sc.executing[g] {
				named++
			}
		}
	}
	if idle > 0 && named < len(sc.executing) {
		more := sc.unlisted(listed, idle)
		idle, busy = idle-more, busy+more
	}
	if idle = min(idle, sc.processors()-busy); idle > 0 {
		sc.hold(idleProcessor.inPlaceOfClass(), 0, idle)
	}
	return sc.slots
}

// unlisted assigns idle processors to running goroutines that
// are not in the list, and returns the number of these.
func (sc *scene) unlisted(listed []sampledata.GoroutineID, idle int64) int64 {
	var more []sampledata.GoroutineID
	for g, holds := range sc.executing {
		if holds && !slices.Contains(listed, g) {
			more = append(more, g)
		}
	}
	slices.Sort(more)
	more = more[:min(int64(len(more)), idle)]
	for _, g := range more {
		sc.holdBy(g)
	}
	return int64(len(more))
}

func (sc *scene) holdBy(g sampledata.GoroutineID) {
	run, _ := sc.at(g)
	sc.hold(sc.classes.of(run), sc.classes.priority(run), 1)
}

func (sc *scene) hold(class classID, priority, n int64) {
	for i := range sc.slots {
		if s := &sc.slots[i]; s.class == class && s.priority == priority {
			s.n += n
			return
		}
	}
	sc.slots = append(sc.slots, slot{class, priority, n})
}
