package syncflow

import (
	"cmp"
	"slices"
)

// The backward flow finds the locks that the code will release
// on every path from a place on, without taking them before. To
// unlock what isn't locked is fatal, so these locks are held
// there, whatever was called in between:
//
//	l.mu.Lock()
//	defer l.mu.Unlock()
//	l.t = l.now()       // an unknown function: it may release l.mu, for all that the forward flow knows
//	l.write()           // but after write, l.mu is unlocked on every path; so it is locked here
//
// Paths that never leave the function, or leave it by a panic,
// don't count.
//
// Locks that the code will release only on some of the paths may
// be held there:
//
//	tx := db.begin()
//	work()
//	tx.close() // unlocks tx.db.mu, unless tx is closed already

// A futureRelease is a lock that will be released.
type futureRelease struct {
	lockName
	// weak: before that, something unknown is called, which may
	// take the lock. Then it is held only if it was also taken
	// here.
	weak bool
	// under: it is released if that is true. It is only for
	// those that some paths release.
	under condition
}

// A future is what the code will release from a place on. If no
// path leads from there out of the function, the code is in a
// loop for ever, or panics: then every lock will be released for
// all that is known, except some.
type future struct {
	returns  bool
	releases []futureRelease // those that some path releases, and no path doesn't
	may      []futureRelease // those that some path releases, and another one doesn't
	except   []futureRelease // if !returns, those that are taken first

	// what is true at the beginning of the path that this is
	// about; for join
	releasedUnder condition
}

// A lockEvent is what an instruction does that changes the
// future. The forward flow records these events.
type lockEvent struct {
	at   int // in flow.code
	kind eventKind
	futureRelease
}

type eventKind uint8

const (
	eventNames      eventKind = iota // the value in lock represents something else before
	eventTakes                       // it takes a lock, or may take it
	eventReleases                    // it releases a lock, whatever the path through what it calls
	eventMayRelease                  // it calls what releases a lock on some paths
	eventStores                      // it changes the word at the address in lock
	eventUnknown                     // it calls something unknown
	eventMethod                      // it calls a method of an interface
)

// record adds an event of the current instruction, if events are recorded.
func (w *flow) record(kind eventKind, lock value, m Mode, via value) {
	w.recordRelease(kind, futureRelease{lockName: lockName{lock: lock, mode: m, via: via}})
}

func (w *flow) recordRelease(kind eventKind, r futureRelease) {
	if w.log != nil {
		*w.log = append(*w.log, lockEvent{w.current, kind, r})
	}
}

// backwardFlow finds the futures at the beginnings of the
// blocks. It returns nil if that takes too long.
func (w *flow) backwardFlow() []future {
	if w.futures != nil || w.noFutures {
		return w.futures
	}
	w.addNames()
	w.futures = make([]future, len(w.blocks))
	for round, changed := 0, true; changed; round++ {
		if changed = false; round > maxRounds {
			w.futures, w.noFutures = nil, true
			break
		}
		for i := len(w.blocks) - 1; i >= 0; i-- {
			f := w.atEnd(i)
			f.applyAll(w.values, w.blocks[i].events)
			if !f.equal(&w.futures[i]) {
				w.futures[i], changed = f, true
			}
		}
	}
	w.a.spend(len(w.code) / 16)
	return w.futures
}

// maxRounds bounds the visits of each block. Two or three are
// the rule, as most blocks lead to later ones.
const maxRounds = 100

// addNames adds the events at which values get their meanings.
func (w *flow) addNames() {
	hasNames := make([]bool, len(w.blocks))
	for v, n := range w.values.nodes {
		if n.kind != kNamed {
			continue
		}
		if k := w.indexOf(uint64(n.c)); k >= 0 {
			b := w.blockOf(k)
			hasNames[b] = true
			e := lockEvent{at: k, kind: eventNames, futureRelease: futureRelease{lockName: lockName{lock: value(v)}}}
			w.blocks[b].events = append(w.blocks[b].events, e)
		}
	}
	for i, is := range hasNames {
		if is {
			slices.SortStableFunc(w.blocks[i].events, func(a, b lockEvent) int {
				return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(min(a.kind, 1), min(b.kind, 1)))
			})
		}
	}
}

// atEnd returns the future at the end of a block.
func (w *flow) atEnd(i int) future {
	b := &w.blocks[i]
	if w.exits(&w.code[b.last]) {
		return future{returns: true}
	}
	var f future
	for n, j := range b.next {
		next := w.futures[j].clone()
		if n < len(b.onEdge) {
			next.applyAll(w.values, b.onEdge[n])
		}
		if c := b.test; n == 0 {
			next.releasedUnder = c
			f = next
		} else {
			next.releasedUnder = c.not()
			f.join(&next)
		}
	}
	f.releasedUnder = condition{}
	return f
}

// applyAll goes back over events.
func (f *future) applyAll(vs *values, events []lockEvent) {
	for i := len(events) - 1; i >= 0; i-- {
		f.apply(vs, &events[i])
	}
}

// apply goes back over an event.
func (f *future) apply(vs *values, e *lockEvent) {
	switch e.kind {
	case eventNames:
		f.forget(vs, e.lock)
	case eventReleases:
		f.except = without(f.except, e.lockName)
		if f.may = without(f.may, e.lockName); e.lock != 0 {
			f.releases = append(without(f.releases, e.lockName), e.futureRelease)
			slices.SortFunc(f.releases, compareReleases)
		}
	case eventMayRelease:
		if indexOf(f.releases, e.lockName) < 0 {
			f.addMay(e.futureRelease)
		}
	case eventTakes:
		// it may be what the function releases
		f.weaken(func(r *futureRelease) bool { return r.call })
		f.releases, f.may = without(f.releases, e.lockName), without(f.may, e.lockName)
		switch {
		case e.lock == 0:
			f.weaken(anyRelease) // it may be one of them
		case !f.returns && indexOf(f.except, e.lockName) < 0:
			f.except = append(f.except, e.futureRelease)
			slices.SortFunc(f.except, compareReleases)
		}
	case eventStores:
		for _, kind := range []kind{kLoad, kByte} {
			if v, ok := vs.index[node{kind: kind, a: e.lock}]; ok {
				f.forget(vs, v)
			}
		}
	case eventMethod:
		f.weaken(func(r *futureRelease) bool { return r.call })
	case eventUnknown:
		f.weaken(anyRelease)
	}
}

// join makes f the future of a place from which two paths lead on.
func (f *future) join(o *future) {
	if !f.returns && o.returns {
		*f, *o = *o, *f
	}
	f.joinMay(o)
	kept := f.releases[:0]
	for _, r := range f.releases {
		k := indexOf(o.releases, r.lockName)
		if o.returns && k < 0 || indexOf(o.except, r.lockName) >= 0 {
			continue
		}
		r.weak = r.weak || k >= 0 && o.releases[k].weak
		kept = append(kept, r)
	}
	f.releases = kept
	if f.returns {
		return
	}
	for _, r := range o.releases {
		if indexOf(f.releases, r.lockName) < 0 && indexOf(f.except, r.lockName) < 0 {
			f.releases = append(f.releases, r)
		}
	}
	for _, r := range o.except {
		if indexOf(f.except, r.lockName) < 0 {
			f.except = append(f.except, r)
		}
	}
	slices.SortFunc(f.releases, compareReleases)
	slices.SortFunc(f.except, compareReleases)
}

// joinMay joins the locks that only one of two paths releases,
// or that one of them may release.
func (f *future) joinMay(o *future) {
	var may future
	for _, p := range []struct{ path, other *future }{{f, o}, {o, f}} {
		always := func(r *futureRelease) bool { return indexOf(p.path.releases, r.lockName) >= 0 }
		for _, r := range slices.Concat(p.path.may, p.path.releases) {
			inOther := indexOf(p.other.releases, r.lockName) >= 0
			switch {
			case always(&r) && (inOther || !p.other.returns && indexOf(p.other.except, r.lockName) < 0):
				continue // it is released in any case
			case inOther || indexOf(p.other.may, r.lockName) >= 0 &&
				p.other.may[indexOf(p.other.may, r.lockName)].under != r.under:
				r.under = condition{} // on both, under different conditions
			case always(&r) || r.under == condition{} && indexOf(p.other.may, r.lockName) < 0:
				r.under = p.path.releasedUnder
			}
			may.addMay(r)
		}
	}
	f.may = may.may
}

// maxMay bounds the locks that may be released which are kept track of.
const maxMay = 16

// addMay adds a lock that some path releases.
func (f *future) addMay(r futureRelease) {
	r.weak = false
	k := indexOf(f.may, r.lockName)
	switch {
	case k >= 0 && f.may[k].under != r.under:
		f.may[k].under = condition{}
	case k < 0 && (r.via == 0 || r.call) && len(f.may) < maxMay:
		f.may = append(f.may, r)
		slices.SortFunc(f.may, compareReleases)
	}
}

func (f *future) clone() future {
	return future{f.returns, slices.Clone(f.releases), slices.Clone(f.may), slices.Clone(f.except),
		f.releasedUnder}
}

func (f *future) equal(o *future) bool {
	return f.returns == o.returns && slices.Equal(f.releases, o.releases) &&
		slices.Equal(f.may, o.may) && slices.Equal(f.except, o.except)
}

// forget removes the locks whose addresses are computed from v.
func (f *future) forget(vs *values, v value) {
	gone := func(r futureRelease) bool { return r.depends(vs, v) }
	for _, list := range []*[]futureRelease{&f.releases, &f.may, &f.except} {
		*list = slices.DeleteFunc(*list, gone)
	}
	for i := range f.may {
		if r := &f.may[i]; vs.depends(r.under.v, v) {
			r.under = condition{}
		}
	}
}

func (f *future) weaken(which func(*futureRelease) bool) {
	for i := range f.releases {
		r := &f.releases[i]
		r.weak = r.weak || which(r)
	}
}

func anyRelease(*futureRelease) bool { return true }

func indexOf(list []futureRelease, n lockName) int {
	return slices.IndexFunc(list, func(o futureRelease) bool { return o.lockName == n })
}

func without(list []futureRelease, n lockName) []futureRelease {
	return slices.DeleteFunc(list, func(o futureRelease) bool { return o.lockName == n })
}

func compareReleases(a, b futureRelease) int { return a.compare(b.lockName) }

// futureAt returns what will be released from an instruction on:
// if the instruction is a call that a goroutine is in, after it.
func (w *flow) futureAt(i int, exact bool) future {
	if w.backwardFlow() == nil {
		return future{returns: true}
	}
	k := w.blockOf(i)
	f := w.atEnd(k)
	events := w.blocks[k].events
	for n := len(events) - 1; n >= 0 && events[n].at >= i; n-- {
		// What a callee releases, its own frame says.
		if e := &events[n]; e.at > i || exact ||
			e.kind != eventReleases && e.kind != eventMayRelease && e.kind != eventNames {
			f.apply(w.values, e)
		}
	}
	return f
}
