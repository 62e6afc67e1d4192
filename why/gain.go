package why

import (
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
)

// A Gain is what it would bring if a cost went away: how much
// more work a class gets done, or how much less time it takes
// for a piece of work.
type Gain struct {
	Class string `json:"class,omitempty"` // whose work it is
	Law   Law    `json:"law,omitempty"`
	// of a closed class: how many times as much work gets done
	// without the cost, and with half of it
	Times *Factor `json:"times,omitempty"`
	Half  *Factor `json:"half,omitempty"`
	// of other classes: the share of the time of a piece of work
	// that is gone without the cost
	Less *hotspots.Estimate `json:"less,omitempty"`
	Next *Next              `json:"next,omitempty"`
	// of a lock, for whose waits Times is: the same without what
	// is done under it, too
	Under *Factor `json:"under,omitempty"`
	// of code: the same without all that the finding is a part of
	Whole *Factor `json:"whole,omitempty"`
	// of allocation: what the runtime copies into it goes, too
	Copied bool `json:"copied,omitempty"`
	// why nothing is known; "" if it is
	Silent string `json:"silent,omitempty"`
}

// TooMuch is a factor that is not worth telling: much else would be full.
const TooMuch = 20

// Unbounded reports whether the samples give no bound of how much more
// work gets done without the cost.
func (g *Gain) Unbounded() bool {
	return g.Times != nil && g.Times.High > TooMuch &&
		(g.Times.High > 2*g.Times.Low || g.Times.Low > 10*TooMuch)
}

// OfAll is why nothing is known of what a class would do without a
// cost: nothing else was seen.
const OfAll = "it is all that the class was seen to do at work"

// NoCPUs is why nothing is known of a class that would compute, if it
// had the CPUs.
const NoCPUs = "the machine often has no CPU for the program, and what that changes is not known"

// A Law says who decides how much work there is.
type Law string

// The laws.
const (
	// the class itself: its goroutines begin with the next piece
	// as soon as one is done, or after some thinking
	Closed Law = "closed"
	Open   Law = "open"    // others, at random
	Either Law = "unknown" // it is not known
)

// A Next is what limits a class once a cost is gone.
type Next struct {
	Centre Centre `json:"centre"`
	Name   string `json:"name,omitempty"` // of the lock, or the function
	// what the class mostly does then, if no centre is full; it
	// waits for work if it sleeps between two pieces
	Does Activity `json:"does,omitempty"`
}

// A Centre is what may be full.
type Centre string

// The centres.
const (
	NoCentre   Centre = "none"       // nothing is full
	Processors Centre = "processors" // all are in use
	Goroutines Centre = "goroutines" // the class's, which compute all the time
	ALock      Centre = "lock"       // it is always held
)

const (
	leastActive = 30   // samples with goroutines of the class at work
	wholly      = 0.97 // of its time, if the class does nothing else
	fullUse     = 0.85 // of the processors, if they are full
	halfUse     = 0.5  // of the CPUs: a program that wants fewer could do more at a time
	foreignUse  = 0.25 // of the CPU time, if other classes share the processors
	hardlyIdle  = 0.05 // of its life, if a class is not idle
	mostlyThink = 0.8  // of its idle time, if a class thinks: it sleeps
	mostGains   = 10   // findings for which a gain is computed
	mostlyPaced = 0.4  // of a class's time, if a limit says how much gets done
)

// gains sets what fixing each finding would bring.
func (a *searched) gains() {
	var m *moments
	for _, f := range a.Findings[:min(len(a.Findings), mostGains)] {
		if silent := f.silent(); silent != "" {
			f.Gain = &Gain{Silent: silent}
			continue
		}
		if m == nil {
			m = newMoments(a.searcher)
		}
		f.Gain = a.gainOf(m, f)
		f.Gain.Copied = f.Gain.Silent == "" && a.copies(f)
		if f.PartOf != nil && f.Gain.Times != nil {
			whole := *f
			whole.Where.Function = f.PartOf.Name
			if g := a.gainOf(m, &whole); g.Class == f.Gain.Class && g.Times != nil && !g.Unbounded() {
				f.Gain.Whole = g.Times
			}
		}
		if next := f.Gain.Next; f.Kind == AllocationKind && next != nil && next.Does == Collecting {
			f.Gain.Next = &Next{Centre: NoCentre} // who allocates nothing waits for no collector
		}
		if a.isPaced(f.Gain) {
			f.Gain = &Gain{Class: f.Gain.Class, Silent: "a limit that may be meant paces its goroutines"}
		}
		if a.isStuck(f.Gain) {
			f.Gain = &Gain{Class: f.Gain.Class, Silent: "goroutines of the class are stuck for good"}
		}
		if a.leadsToUnknown(f.Gain) {
			f.Gain = &Gain{Class: f.Gain.Class,
				Silent: "its goroutines may wait for work then, in " + f.Gain.Next.Name}
		}
	}
}

// isPaced reports whether a limit paces a class whose gain was computed,
// for most of its time.
func (a *searched) isPaced(g *Gain) bool {
	return g.Silent == "" && slices.ContainsFunc(a.Findings, func(f *Finding) bool {
		return f.Paced() && f.Class == g.Class && f.Share.Share >= mostlyPaced
	})
}

// isStuck reports whether goroutines of a class whose gain was
// computed don't go on, whatever is faster.
func (a *searched) isStuck(g *Gain) bool {
	return g.Silent == "" && slices.ContainsFunc(a.Findings, func(f *Finding) bool {
		return (f.Kind == StuckKind || f.Kind == DeadlockKind) && f.Class == g.Class
	})
}

// endUnseen reports whether nothing tells what ends the waits of
// a finding: no cause, and no sign but that nobody was seen to have
// what they wait for.
func (f *Finding) endUnseen() bool {
	return f.Remedy == lookAtTimer || f.Remedy == otherEnd || f.Remedy == giveBack
}

// leadsToUnknown reports whether a class mostly waits without a
// cost, and what ends that wait was not seen.
func (a *searched) leadsToUnknown(g *Gain) bool {
	return g.Times != nil && slices.ContainsFunc(a.Findings, func(f *Finding) bool {
		return f.endUnseen() && f.Class == g.Class && f.Where.Function == g.Next.Name
	})
}

// silent returns why nothing is known of what the fix of a
// finding would bring, whatever the samples show; else "".
func (f *Finding) silent() string {
	switch {
	case f.row().silent != "":
		return f.row().silent
	case f.connectsHTTP():
		return "they are made for goroutines of other classes"
	case f.spins():
		return "it spins, and it is not known what would be done instead"
	case slices.Contains(f.Signs, once):
		return "those that wait need what the first one does"
	case slices.Contains(f.Signs, stalled):
		return "most of its goroutines don't go on"
	case f.Paced(), slices.Contains(f.Signs, holderPaced):
		return "the limit may be meant"
	case slices.Contains(f.Signs, nobodyElse), slices.Contains(f.Signs, ofOthers), slices.Contains(f.Signs, ofReader):
		return "what ends the wait may come from outside"
	case f.oneCall:
		return "it may be in one call all the time, which ends no work"
	case f.guessed:
		return "what ends the wait is only guessed"
	case f.endUnseen():
		return "what ends the wait was not seen, and may be a timer"
	case f.Kind != LockKind && shareWhere(f.Causes, (*Cause).waitsInProgram) >= 0.5:
		return "they wait for goroutines that wait, and what ends that was not seen"
	case f.Made != nil && f.Made.Awaited, slices.Contains(f.Signs, ofProcess):
		return "what a process does may be what is wanted"
	case f.Growth != nil:
		return "more and more goroutines of the class begin, and few end"
	case f.Phase:
		return "it is true only in a part of the recording"
	}
	return ""
}

// waitsInProgram reports whether those that others wait for wait for
// others of the program.
func (c *Cause) waitsInProgram() bool {
	switch c.Activity {
	case Sending, Receiving, Selecting, Conditional, Joining:
		return !c.Place.inRoundTrip() && !requesting.MatchString(c.Place.Library)
	}
	return false
}

// gainOf returns what fixing a finding would bring: to the class
// that it is about or, if it is about the processors and that one is
// not known to get more done, to the one that it costs most.
func (s *searcher) gainOf(m *moments, f *Finding) *Gain {
	b := m.tracer(s.targetOf(f))
	if !f.OfProcessors() {
		return b.gain(s.workers(slices.Concat([]Part{{Name: f.Class}}, f.Others, f.Behind, f.Ready)), 1)
	}
	own := b.gain(s.workers([]Part{{Name: f.Class}}), 1)
	if own.Times != nil && own.matters() {
		return own
	}
	if behind := b.gain(s.workers(f.Behind), 1); behind.Times != nil && behind.matters() {
		return behind // the finding's goroutines do a part of their work
	}
	most := b.most()
	if own.Silent == OfAll && len(most) > 0 && most[0] == s.classOf(f) {
		most = append(most[:1], slices.DeleteFunc(most[1:], s.hardlyWaits)...) // those only share the processors with it
	}
	return b.gain(most, 1)
}

// hardlyWaits reports whether goroutines of a class hardly wait for
// anything but a processor when they are at work.
func (s *searcher) hardlyWaits(class int32) bool {
	all, waits := weigh(s.members(class), func(at *situation) bool { return !at.idle && !at.still },
		func(at *situation) bool { return at.waits() || at.state.Doing == views.AwaitingLock })
	return waits <= fewWaits*all
}

// targetOf returns the cost that a finding is about. Of code it
// is the function without its waits for others, of a lock the
// waits of all classes. Of another wait it is that of the finding's class,
// and of the others that wait as it does. A system call takes CPU time,
// too, and its thread needs one at its end. Who allocates to copy does not
// copy, either, without that.
func (s *searcher) targetOf(f *Finding) target {
	switch {
	case f.IsCode():
		return target{hit: func(at *situation) bool { return s.on(at, f.Where.Function) && !at.awaitsOthers() }, code: true}
	case f.Kind == LockKind:
		return target{hit: awaits(f.Lock)}
	case f.Kind == MakingKind:
		return target{hit: s.hits(f), garbage: true}
	case s.copies(f):
		return target{hit: func(at *situation) bool {
			return s.makesGarbage(at) || at.usesCPU() && s.e.places.matches(at.state.Stack, copiers)
		}}
	case f.Kind == BlockingKind && f.Where.Library != "":
		waits, class := s.hits(f), s.classOf(f)
		return target{hit: func(at *situation) bool {
			return waits(at) || at.class == class && !at.idle && s.on(at, f.Where.Function) && s.on(at, f.Where.Library)
		}}
	}
	return target{hit: s.hitsOfOthers(f)}
}

// workers returns the classes with some names. Those of the runtime do
// no work of the program.
func (s *searcher) workers(named []Part) (all []int32) {
	for _, p := range named {
		if class, ok := s.e.byName[p.Name]; ok && !s.e.classes[class].runtimes {
			all = append(all, class)
		}
	}
	return all
}

func names(all []Part) []string {
	return lists.Each(all, func(p Part) string { return p.Name })
}

// mostAsked limits the classes that are asked what they would gain.
const mostAsked = 3

// gain returns what it would bring if a part of the target went
// away, for the first of some classes that tells it.
func (b *tracer) gain(classes []int32, part float64) *Gain {
	if len(b.s.e.uncounted) > 0 {
		return &Gain{Silent: "only a part of the time counts, and not all that it waits for"}
	}
	first := &Gain{Silent: "no class of goroutines does the work"}
	for i, class := range classes[:min(len(classes), mostAsked)] {
		t := b.trace(class)
		g := b.gainOf(class, t, part)
		if b.locks && g.Times != nil {
			b.under = true
			g.Under = b.gainOf(class, b.trace(class), part).Times
			b.under = false
		}
		if g.Silent == "" && !b.withCPUs(g, t) {
			g = &Gain{Class: g.Class, Silent: NoCPUs}
		}
		if g.Silent == "" && b.mayAwaitOwn(t) {
			g = &Gain{Class: g.Class, Silent: "it also waits for connections that may be the program's own, and how much less is not known"}
		}
		if g.Silent == "" && (i == 0 || g.matters()) {
			return g
		}
		if i == 0 {
			first = g
		}
	}
	return first
}

// matters reports whether a gain is one, for a class that a finding is
// not about.
func (g *Gain) matters() bool {
	return g.Times != nil && g.Times.Times > 1+hardlyAny || g.Less != nil && g.Less.Share > hardlyAny
}

// gainOf returns what it would bring to a class whose time was traced.
func (b *tracer) gainOf(class int32, t *traced, part float64) *Gain {
	c := &b.s.e.classes[class]
	g := &Gain{Class: c.name, Law: b.lawOf(c, t.through)}
	if g.Law == Closed {
		b.leaveOut(t)
	}
	active, thinks := 0, 0.0
	through := slices.Clone(t.through)
	for i := range through {
		o := &through[i]
		if o.Base > 0 {
			active++
		}
		if g.Law == Closed {
			o.Base += b.s.e.mean(c.sleeps)
			thinks += o.Weight * b.s.e.mean(c.sleeps)
		}
	}
	d := b.demand(t, through)
	d.through.High = max(d.through.High, t.most()*baseOf(t.through)/max(1, baseOf(through)))
	stays, asleep := b.stays(t.left, thinks)
	d.stays, d.asleep = stays/max(1, baseOf(through)), asleep/max(1, baseOf(through))
	switch {
	case active < leastActive:
		return &Gain{Class: c.name, Silent: "too few samples have its goroutines at work"}
	case d.through.Share >= wholly && (b.code || g.Law != Closed):
		return &Gain{Class: c.name, Silent: OfAll}
	case g.Law != Closed:
		g.Less = &hotspots.Estimate{Share: part * d.through.Share, Low: part * d.through.Low,
			High: part * d.through.High, Samples: d.through.Samples}
		return g
	}
	whole, full := d.gain(part)
	half, _ := d.gain(part / 2)
	g.Times, g.Half = &whole, &half
	switch {
	case full == nil:
		g.Next = b.rest(t.left, thinks)
	case full.hits() >= minNext:
		g.Next = &full.next
	default:
		g.Next = &Next{Centre: NoCentre}
	}
	return g
}

// stays returns how much of a class's time nobody in the program
// ends: it thinks, for example. What it reads may come from the
// program itself. A part of it is asleep.
func (b *tracer) stays(left sums, thinks float64) (stays, asleep float64) {
	stays, asleep = thinks, thinks
	for i, weight := range left {
		switch does := b.s.e.situations[i].state.Doing; {
		case does == views.Sleeping:
			stays, asleep = stays+weight, asleep+weight
		case does == views.InSystemCall, b.asks[i] && b.others:
			stays += weight
		}
	}
	return stays, asleep
}

// baseOf returns the time that some samples count.
func baseOf(all []hotspots.Observation) (base float64) {
	for _, o := range all {
		base += o.Weight * o.Base
	}
	return base
}

// most returns the classes of the program whose time goes most
// through the target. What the standard library does beside the
// program's work, such as to watch a context, is none.
func (b *tracer) most() []int32 {
	by := make(sums)
	for i := range b.samples {
		b.enter(i)
		for k := range b.workers {
			w := &b.workers[k]
			if class := b.at(w).class; !b.s.e.classes[class].runtimes {
				by[class] += b.weight(i) * b.share(w, 0)
			}
		}
	}
	return slices.DeleteFunc(ordered(by), func(class int32) bool { return by[class] <= 0 || !b.s.isOwn(class) })
}

// demand sums up what was traced, with the thinking of a closed class.
func (b *tracer) demand(t *traced, through []hotspots.Observation) *demand {
	used := make([]hotspots.Observation, len(b.samples))
	for i, sample := range b.samples {
		cpus := b.s.e.cpus
		used[i] = hotspots.Observation{Weight: b.weight(i),
			Hits: float64(cpus.Used[sample] + cpus.NoCPU[sample]),
			Base: float64(cpus.Processors[sample])}
	}
	return &demand{through: hotspots.Estimated(through, 1), cpu: hotspots.Estimated(t.cpu, 1),
		full:   hotspots.RatioOf(used, 1).Value >= fullUse,
		shared: t.foreign > foreignUse, centres: t.centres}
}

// lawOf says who decides how much work a class has. Sleep at
// home is thinking, which stays; a ticker may begin each piece
// of work. Goroutines that live for one piece of work are
// started by others.
func (b *tracer) lawOf(c *class, active []hotspots.Observation) Law {
	idle := c.life - c.active
	switch {
	case c.ends():
		return Either
	case idle < hardlyIdle*c.life, c.sleeps-c.ticks >= mostlyThink*idle:
		return Closed
	case varies(active):
		return Open
	}
	return Either
}

// minNext is the number of hits from which it is known what a
// class does, or what limits it.
const minNext = 5

// rest returns what a class mostly does without the target; it may think.
func (b *tracer) rest(left sums, thinks float64) *Next {
	type doing struct {
		does     Activity
		function string
	}
	by := make(map[doing]float64)
	for i, weight := range left {
		at := b.s.e.situations[i]
		by[doing{b.s.e.activity(at), b.s.e.places.at(at.state.Stack)}] += weight
	}
	total := left.total() + thinks
	if thinks > total/2 {
		return &Next{Centre: NoCentre, Does: WaitsForWork}
	}
	for d, weight := range by {
		if weight > total/2 && weight >= minNext*b.s.e.length/float64(b.s.e.to-b.s.e.from) {
			return &Next{Centre: NoCentre, Name: d.function, Does: d.does}
		}
	}
	return &Next{Centre: NoCentre}
}
