package views

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// A ClassSummary has the sums of a thread class's Thread View in a span.
type ClassSummary struct {
	Class      string
	Goroutines int   // number of goroutines that were of the class in any sample
	Hits       int64 // goroutines alive, summed over the samples
	// the goroutines' lifetime in nanoseconds: the Thread View's denominator
	Time *big.Rat
	// waiting for work; with Options.LeaveOutIdle, Hits, Time and the parts
	// lack it
	Idle      calltree.Total
	MeanAlive *big.Rat // goroutines at a time
	Parts              // nanoseconds; they sum to Time
	HitParts  Parts    // they sum to Hits

	idleLeftOut bool // Hits, Time and the parts lack Idle

	// Attributed is the part of Monitor for locks with a known holder.
	Attributed calltree.Total
}

// Shares returns the parts as fractions of the goroutines' lifetime.
func (c *ClassSummary) Shares() Parts { return c.Parts.Shares(c.Time) }

// IdleShare returns the share of waiting for work of the
// goroutines' whole lifetime; 0 if that is 0, as the weight of a
// class of a profile can be.
func (c *ClassSummary) IdleShare() *big.Rat {
	all := new(big.Rat).Set(c.Time)
	if c.idleLeftOut {
		all.Add(all, c.Idle.Weight)
	}
	return exact.Quo(c.Idle.Weight, all)
}

// Busy returns the nanoseconds in which the goroutines did not wait.
func (c *ClassSummary) Busy() *big.Rat { return new(big.Rat).Sub(c.Time, c.Parts[Wait]) }

// Classes sums up all thread classes of a span. The class with
// the longest lifetime comes first.
func Classes(r *sampledata.Recording, o Options) ([]ClassSummary, error) {
	from, to, err := o.samples(r)
	if err != nil {
		return nil, fmt.Errorf("thread classes: %w", err)
	}
	if r.Profile != nil {
		return newProfiled(r, o).sums(), nil
	}
	l := &classLedger{scene: newScene(r, o),
		lastClass: slices.Repeat([]classID{noClass}, r.Goroutines.Len())}
	if err := Walk(r, from, to, &tally{scene: l.scene, ledger: l}); err != nil {
		return nil, fmt.Errorf("thread classes: %w", err)
	}
	return l.summaries(l.scene.weights.Of(int(from), int(to))), nil
}

// attributed comes after the typed times in a tally's sums. It
// is the part of Monitor for which the lock has a known holder.
const (
	attributed = NumTypedTimes
	numSums    = attributed + 1
)

// sums has the time and the hits by typed time, and attributed.
type sums [numSums]exact.Sum

func (s *sums) parts() (time, hits Parts) {
	for t := range time {
		time[t], hits[t] = s[t].Weight(), s[t].Hits()
	}
	return time, hits
}

// A tally divides time like the builder of trees, but computes
// only sums. It is a Visitor.
type tally struct {
	scene  *scene
	ledger ledger
	active groups[actor]
}

// A ledger receives the entries of a tally.
type ledger interface {
	enter(run sampledata.Run, a actor, seen span)        // a goroutine enters a state
	constant(a actor, t TypedTime, seen span)            // one hit in each sample
	add(a actor, seen span, t TypedTime, num, den int64) // num/den hits in each sample
}

// A span is some samples, and what is observed of a goroutine
// that is in all of them.
type span struct {
	first, samples int32
	observed
}

func (sc *scene) span(first, samples int32) span {
	return span{first, samples, sc.observed(first, samples)}
}

func (t *tally) Begin(i int32, run sampledata.Run, first, samples int32) bool {
	wantEnd := t.scene.begin(i, run)
	a := t.actor(run)
	if !t.scene.counts(run) {
		return wantEnd
	}
	seen := t.scene.span(first, samples)
	t.ledger.enter(run, a, seen)
	switch a.kind {
	case waiting:
		t.ledger.constant(a, Wait, seen)
	case locked:
		t.ledger.constant(a, Monitor, seen)
	case executing:
		switch {
		case a.noCPU:
			t.ledger.constant(a, Load, seen)
		case t.scene.constant(a):
			t.ledger.constant(a, Run, seen)
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
	a.who, a.reason, a.release = nobody, "", 0
	return a
}

func (t *tally) End(run sampledata.Run) {
	t.scene.end(run)
	if a := t.actor(run); !t.scene.constant(a) && t.scene.counts(run) {
		t.active.remove(a)
	}
}

func (t *tally) Sample(s, alike int32) error {
	t.scene.moveTo(s)
	seen := t.scene.span(s, alike)
	for i := range t.active.list {
		a, n := t.active.list[i].key, t.active.list[i].n
		if a.kind == locked {
			set := t.scene.r.HolderSets[a.holders]
			known := int64(lists.Count(set, t.scene.exists))
			t.ledger.add(a, seen, attributed, n*known, int64(max(1, len(set))))
			continue
		}
		sp := t.scene.spread(a)
		for typed, num := range sp.typed {
			if num > 0 {
				t.ledger.add(a, seen, TypedTime(typed), n*num, sp.of)
			}
		}
	}
	return nil
}

// A classLedger sums by class.
type classLedger struct {
	scene   *scene
	byClass []classSums

	// The goroutines seen in each class: lastClass has the last
	// class of each, changed has the others of those whose
	// labels changed.
	lastClass []classID
	changed   map[membership]bool
}

type classSums struct {
	goroutines int
	alive      exact.Sum // idle ones included
	idle       exact.Sum
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

func (l *classLedger) enter(run sampledata.Run, a actor, seen span) {
	idle := l.scene.idleness.has(run)
	l.scene.charged(a, func(class classID) {
		c := l.of(class)
		c.alive.Add(seen.hits, seen.time, 1, 1)
		if idle {
			c.idle.Add(seen.hits, seen.time, 1, 1)
		}
		if l.isNew(run.Goroutine, class) {
			c.goroutines++
		}
	})
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

func (l *classLedger) constant(a actor, t TypedTime, seen span) { l.add(a, seen, t, 1, 1) }

func (l *classLedger) add(a actor, seen span, t TypedTime, num, den int64) {
	l.scene.charged(a, func(class classID) {
		l.of(class).typed[t].Add(seen.hits, seen.time, num, den)
	})
}

// summaries returns the classes; the samples stand for the given time.
func (l *classLedger) summaries(length int64) []ClassSummary {
	var all []ClassSummary
	for id := range l.byClass {
		c := &l.byClass[id]
		if c.goroutines == 0 {
			continue
		}
		s := ClassSummary{
			Class:      l.scene.classes.names.All[id],
			Goroutines: c.goroutines,
			Hits:       c.alive.Hits().Num().Int64(),
			Time:       c.alive.Weight(),
			Idle:       calltree.TotalOf(&c.idle),
			Attributed: calltree.TotalOf(&c.typed[attributed]),
		}
		s.Parts, s.HitParts = c.typed.parts()
		s.MeanAlive = new(big.Rat).Quo(s.Time, new(big.Rat).SetInt64(length))
		if l.scene.o.LeaveOutIdle {
			s.leaveOutIdle()
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b ClassSummary) int {
		if c := exact.Compare(b.Time, a.Time); c != 0 {
			return c
		}
		return cmp.Or(exact.Compare(b.Idle.Weight, a.Idle.Weight), cmp.Compare(a.Class, b.Class))
	})
	return all
}

// leaveOutIdle takes the waiting for work out of the sums.
func (c *ClassSummary) leaveOutIdle() {
	c.idleLeftOut = true
	c.Hits -= c.Idle.Hits.Num().Int64()
	c.Time = new(big.Rat).Sub(c.Time, c.Idle.Weight)
	c.Parts[Wait] = new(big.Rat).Sub(c.Parts[Wait], c.Idle.Weight)
	c.HitParts[Wait] = new(big.Rat).Sub(c.HitParts[Wait], c.Idle.Hits)
}
