package views

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/sampledata"
)

// A ClassSummary has the sums of a thread class's Thread View in a span.
type ClassSummary struct {
	Class      string
	Goroutines int      // number of goroutines that were of the class in any sample
	Hits       int64    // goroutines alive, summed over the samples: the Thread View's denominator
	Idle       int64    // those that waited for work; with Options.LeaveOutIdle, Hits and Parts lack them
	MeanAlive  *big.Rat // in a sample
	Parts               // they sum to Hits

	idleLeftOut bool // Hits and Parts lack Idle

	// Attributed is the part of Parts[Monitor] for locks with a known holder.
	Attributed *big.Rat
}

// Shares returns the parts as fractions of the goroutines' lifetime.
func (c *ClassSummary) Shares() Parts { return c.Parts.Shares(c.Hits) }

// IdleShare returns the share of waiting for work of the goroutines' whole lifetime.
func (c *ClassSummary) IdleShare() *big.Rat {
	all := c.Hits
	if c.idleLeftOut {
		all += c.Idle
	}
	return new(big.Rat).SetFrac64(c.Idle, max(all, 1))
}

// Busy returns the hits with which the goroutines did not wait.
func (c *ClassSummary) Busy() *big.Rat {
	return new(big.Rat).Sub(new(big.Rat).SetInt64(c.Hits), c.Parts[Wait])
}

// Classes sums up all thread classes of a span. The class with the most hits comes first.
func Classes(r *sampledata.Recording, o Options) ([]ClassSummary, error) {
	from, to, err := o.samples(r)
	if err != nil {
		return nil, fmt.Errorf("thread classes: %w", err)
	}
	l := &classLedger{scene: newScene(r, o), lastClass: make([]classID, len(r.Goroutines))}
	for g := range l.lastClass {
		l.lastClass[g] = noClass
	}
	if err := Walk(r, from, to, &tally{scene: l.scene, ledger: l}); err != nil {
		return nil, fmt.Errorf("thread classes: %w", err)
	}
	return l.summaries(int64(to - from)), nil
}

// attributed comes after the typed times in a tally's counts: it has those hits of Monitor whose lock has a known
// holder.
const (
	attributed = NumTypedTimes
	numSums    = attributed + 1
)

// sums has the hits by typed time, and attributed.
type sums [numSums]exact.Sum

func (s *sums) parts() (p Parts) {
	for t := range p {
		p[t] = s[t].Rat()
	}
	return p
}

// A tally divides time like the builder of trees, but computes only sums. It is a Visitor.
type tally struct {
	scene  *scene
	ledger ledger
	active groups[actor]
}

// A ledger receives the entries of a tally.
type ledger interface {
	takes(a actor) bool                                         // whether the ledger counts the actor's time
	enter(run sampledata.Run, a actor, first, samples int32)    // a goroutine enters a state
	constant(a actor, t TypedTime, first, samples int32)        // one hit in each of these samples
	add(a actor, s, samples int32, t TypedTime, num, den int64) // in each of a number of samples from s
}

func (t *tally) Begin(i int32, first, samples int32) bool {
	wantEnd := t.scene.begin(i)
	run := t.scene.r.Runs.At(int(i))
	a := t.actor(run)
	if !t.ledger.takes(a) {
		return wantEnd
	}
	t.ledger.enter(run, a, first, samples)
	switch a.run {
	case sampledata.Waiting, sampledata.Unknown:
		t.ledger.constant(a, Wait, first, samples)
	case sampledata.Blocked:
		t.ledger.constant(a, Monitor, first, samples)
	case sampledata.Running, sampledata.Detached:
		switch {
		case a.noCPU:
			t.ledger.constant(a, Load, first, samples)
		case t.scene.constant(a):
			t.ledger.constant(a, Run, first, samples)
		}
	}
	if t.scene.constant(a) {
		return wantEnd
	}
	t.active.add(a)
	return true
}

// actor leaves out the fields that matter only for a tree.
func (t *tally) actor(run sampledata.Run) actor {
	a := t.scene.actor(run)
	a.who, a.reason = nobody, ""
	return a
}

func (t *tally) End(i int32) {
	t.scene.end(i)
	run := t.scene.r.Runs.At(int(i))
	if a := t.actor(run); !t.scene.constant(a) && t.ledger.takes(a) {
		t.active.remove(a)
	}
}

func (t *tally) Sample(s, alike int32) error {
	t.scene.moveTo(s)
	for i := range t.active.list {
		a, n := t.active.list[i].key, t.active.list[i].n
		if a.run == sampledata.Blocked {
			set := t.scene.r.HolderSets[a.holders]
			var known int64
			for _, g := range set {
				if t.scene.exists(g) {
					known++
				}
			}
			t.ledger.add(a, s, alike, attributed, n*known, int64(max(1, len(set))))
			continue
		}
		sp := t.scene.spread(a)
		for typed, num := range sp.typed {
			if num > 0 {
				t.ledger.add(a, s, alike, TypedTime(typed), n*num, sp.of)
			}
		}
	}
	return nil
}

// A classLedger sums by class.
type classLedger struct {
	scene   *scene
	byClass []classSums

	// The goroutines seen in each class: lastClass has the last class of each, changed has the others of those whose
	// labels changed.
	lastClass []classID
	changed   map[membership]bool
}

type classSums struct {
	goroutines int
	hits       int64 // idle ones included
	idle       int64
	typed      sums
}

type membership struct {
	goroutine sampledata.GoroutineID
	class     classID
}

func (l *classLedger) of(class classID) *classSums {
	for int(class) >= len(l.byClass) {
		l.byClass = append(l.byClass, classSums{})
	}
	return &l.byClass[class]
}

func (l *classLedger) takes(actor) bool { return true }

func (l *classLedger) enter(run sampledata.Run, a actor, _, samples int32) {
	c := l.of(a.class)
	c.hits += int64(samples)
	if l.scene.idleness.has(run) {
		c.idle += int64(samples)
	}
	if l.isNew(run.Goroutine, a.class) {
		c.goroutines++
	}
}

// isNew reports whether a goroutine is of a class for the first time.
func (l *classLedger) isNew(g sampledata.GoroutineID, class classID) bool {
	last := l.lastClass[g]
	l.lastClass[g] = class
	if last == class || last == noClass {
		return last == noClass
	}
	if l.changed == nil {
		l.changed = make(map[membership]bool)
	}
	l.changed[membership{g, last}] = true
	k := membership{g, class}
	was := l.changed[k]
	l.changed[k] = true
	return !was
}

func (l *classLedger) constant(a actor, t TypedTime, _, samples int32) {
	l.of(a.class).typed[t].Add(int64(samples), 1)
}

func (l *classLedger) add(a actor, _, samples int32, t TypedTime, num, den int64) {
	l.of(a.class).typed[t].Add(num*int64(samples), den)
}

func (l *classLedger) summaries(samples int64) []ClassSummary {
	var all []ClassSummary
	for id := range l.byClass {
		c := &l.byClass[id]
		if c.hits == 0 {
			continue
		}
		s := ClassSummary{
			Class:      l.scene.classes.names[id],
			Goroutines: c.goroutines,
			Hits:       c.hits,
			Idle:       c.idle,
			MeanAlive:  big.NewRat(c.hits, samples),
			Parts:      c.typed.parts(),
			Attributed: c.typed[attributed].Rat(),
		}
		if l.scene.o.LeaveOutIdle {
			s.idleLeftOut = true
			s.Hits -= s.Idle
			s.Parts[Wait] = new(big.Rat).Sub(s.Parts[Wait], new(big.Rat).SetInt64(s.Idle))
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b ClassSummary) int {
		return cmp.Or(cmp.Compare(b.Hits, a.Hits), cmp.Compare(b.Idle, a.Idle), cmp.Compare(a.Class, b.Class))
	})
	return all
}
