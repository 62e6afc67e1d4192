package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// Locks are released by functions that only a frame shows:
//
//	unlock := t.acquire()   // or s.Acquire(), a method of an interface
//	work()
//	unlock()                // or s.Release()
//
// The code calls unlock on every path from here, and a word of
// the frame leads to its code. That code says which lock it
// releases; so the lock is held now.

// maxCalls bounds the calls that are remembered.
const maxCalls = 8

// addCall notes a call, as in a lockName.
func (s *state) addCall(c release) {
	if slices.Contains(s.called, c) {
		return
	}
	if s.called = append(s.called, c); len(s.called) > maxCalls {
		s.called = slices.Delete(s.called, 0, 1)
	}
}

// releaseByCall is for a call that a helper makes.
func (w *flow) releaseByCall(always bool, c release) {
	switch {
	case c.lock == 0:
	case always:
		w.recordRelease(eventReleases, futureRelease{lockName: c})
	default:
		w.recordRelease(eventMayRelease, futureRelease{lockName: c})
	}
}

// callsToCome returns the calls that the function will make, and
// that may release locks. They are Sure to release what is held
// now if calls have returned the closures, and have taken some
// lock. They are Possible to do so, if it depends on what other
// calls have taken. Else they are Doubtful.
func (w *flow) callsToCome(s *state, f *future, exact bool) (refs []lockRef) {
	add := func(r *futureRelease, c Certainty) {
		at := w.exprFor(s, r.lock, exact, 0)
		if r.call && at != nil {
			refs = append(refs, lockRef{lock: at, via: w.exprFor(s, r.via, exact, 0), certainty: c})
		}
	}
	for i := range f.releases {
		r := &f.releases[i]
		switch {
		case r.weak:
			add(r, Doubtful)
		case w.values.loadedFromNamed(r.lock) && len(s.holds) > 0:
			add(r, Sure)
		default:
			add(r, Possible)
		}
	}
	for i := range f.may {
		add(&f.may[i], Doubtful)
	}
	return refs
}

// callsMade returns the calls that the function has made on
// every path, and that may have taken locks.
func (w *flow) callsMade(s *state, exact bool) (refs []lockRef) {
	for _, c := range s.called {
		if at := w.exprFor(s, c.lock, exact, 0); at != nil {
			refs = append(refs, lockRef{lock: at, via: w.exprFor(s, c.via, exact, 0)})
		}
	}
	return refs
}

// applyCalls adds the locks that calls release which a frame
// will make. It reports whether the frame surely holds one of
// them.
func (l *heldLocks) applyCalls(p *siteLocks, f *frame) (sure bool) {
	if len(p.toCome) == 0 {
		return false
	}
	var taken []Held
	for i := range p.made {
		for _, e := range l.effects(&p.made[i], f) {
			if lock, ok := e.lock.eval(e.in); ok && e.change == takes && e.under == nil {
				taken = append(taken, Held{Lock: lock, Mode: e.mode})
			}
		}
	}
	for i := range p.toCome {
		r := &p.toCome[i]
		for _, e := range l.effects(r, f) {
			lock, ok := e.lock.eval(e.in)
			if e.change != releases || e.via != nil || e.call || !ok {
				continue
			}
			h := Held{Lock: lock, Mode: e.mode}
			if known := r.certainty == Sure ||
				r.certainty == Possible && slices.Contains(taken, h); !e.always || !known {
				h.Certainty = Doubtful
			}
			l.add(h)
			sure = sure || h.Certainty == Sure
		}
	}
	return sure
}

// A calledEffect is an effect of a call, with the registers at its entry.
type calledEffect struct {
	effect
	in *frame
}

// effects returns what a call does to locks that a frame makes
// or has made.
func (l *heldLocks) effects(r *lockRef, f *frame) (list []calledEffect) {
	entry, ok := r.lock.eval(f)
	if !ok {
		return nil
	}
	if fn, ok := l.a.p.Table.Func(entry); !ok || fn.Entry != entry {
		return nil
	}
	c := l.a.callee(entry)
	if l.a.left <= 0 && !c.effectsKnown {
		return nil // not yet
	}
	in := &frame{m: f.m, register: func(n int) (uint64, bool) {
		switch {
		case machinecode.Reg(n) == l.a.machine.closure && r.lock.kind == kLoad:
			return r.lock.a.eval(f)
		case machinecode.Reg(n) == l.a.machine.argument:
			return r.via.eval(f)
		}
		return 0, false
	}}
	for _, e := range l.a.callEffects(c) {
		list = append(list, calledEffect{e, in})
	}
	return list
}

// callEffects returns the effects of a function, which may be
// one of package sync.
func (a *Analyzer) callEffects(c *function) []effect {
	l, ok := syncCalls[c.role]
	if !ok || l.change == mayTake {
		return a.effectsOf(c, 1)
	}
	lock := &expr{kind: kEntry, c: int64(a.machine.argument)}
	return []effect{{change: l.change, mode: l.mode, lock: lock, always: true}}
}
