package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// doubtfulLocks returns the locks that may be held in a state.
// What is known only by the methods of an interface counts only
// if something leads to it: most of that are no locks. There is
// less reason to believe that a lock is held which the function
// does not release.
func (w *flow) doubtfulLocks(s *state, i int, exact bool) (refs []lockRef) {
	role := w.a.callee(w.f.Entry).role
	for k := range s.holds {
		h := &s.holds[k]
		if h.under.v != 0 {
			if _, ok := w.refTo(s, h, exact); ok {
				continue // the frame shows whether it is held
			}
		}
		r := lockRef{lock: w.exprFor(s, h.lock, exact, 0), mode: h.mode, certainty: Doubtful}
		if h.via != 0 {
			if r.via = w.exprFor(s, h.via, exact, 0); r.lock == nil || r.via == nil {
				continue
			}
		}
		if !h.sure() && h.via == 0 && h.lock != 0 && w.passesOn(i, h.lock, h.mode) {
			r.certainty = Possible
		}
		if !h.sure() && r.lock != nil || r.lock == nil && !role.TakesOrReleases() {
			refs = append(refs, r)
		}
	}
	switch role {
	case goruntime.CallLock, goruntime.CallLockSlow:
		// It may just have succeeded. In its call of the slow
		// path, the frame of that one shows the lock.
		if lock := w.exprFor(s, w.values.entry(w.a.machine.argument), exact, 0); lock != nil {
			refs = append(refs, lockRef{lock: lock, certainty: Possible})
		}
	}
	return refs
}

// maybeReleased returns the locks that the code will release on
// some paths, if something in the frame leads to them.
func (w *flow) maybeReleased(s *state, f *future, exact bool) (refs []lockRef) {
	for _, r := range f.may {
		if r.call {
			continue
		}
		known := slices.ContainsFunc(s.holds,
			func(h hold) bool { return h.lock == r.lock && h.mode == r.mode })
		if lock := w.exprFor(s, r.lock, exact, 0); lock != nil && !known {
			ref := lockRef{lock: lock, mode: r.mode, certainty: Doubtful}
			if r.under.v != 0 {
				ref.under, ref.mask, ref.zero = w.exprFor(s, r.under.v, exact, 0), r.under.mask,
					r.under.zero
			}
			refs = append(refs, ref)
		}
	}
	return refs
}
