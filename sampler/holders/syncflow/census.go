package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// A LockedCall is a call during which a lock may be held that its function
// has taken.
type LockedCall struct {
	PC    uint64 // of the call
	Doubt Doubt  // the greatest of those about the locks that may be held
}

// LockedCalls returns the calls of a function during which one of its locks
// may be held. It reports false if the function has nothing to do with locks.
// What may be a lock, by the methods of an interface, does not count: only a
// frame shows whether it is one.
func (a *Analyzer) LockedCalls(f pclntab.Func) (calls []LockedCall, locks bool) {
	c := a.callee(f.Entry)
	if c.role != goruntime.CallOther || goruntime.IsSync(f.Name()) || !a.relevant(c, 0) {
		return nil, false
	}
	w := a.flowOf(f)
	if w == nil {
		return nil, true
	}
	for k, s := range w.states() {
		if w.leavesFunction(&w.code[k]) && w.stands(k) {
			if d, held := w.doubtDuring(s, k); held {
				calls = append(calls, LockedCall{w.code[k].PC, d})
			}
		}
	}
	return calls, true
}

// stands reports whether a goroutine's stack can show it in a call. Calls of
// the runtime that only move memory, or end in a panic, don't count.
func (w *flow) stands(k int) bool {
	x := &w.code[k]
	if x.Indirect {
		return true
	}
	switch w.a.callee(x.Target).role {
	case goruntime.CallBarrier, goruntime.CallDuff, goruntime.CallStops:
		return false
	}
	return true
}

// doubtDuring returns the greatest doubt about a lock that may be held during
// a call. It reports false if none may be.
func (w *flow) doubtDuring(s *state, k int) (doubt Doubt, held bool) {
	s = s.clone()
	w.duringCall(s, &w.code[k])
	future := w.futureAt(k, false)
	proven := w.proven(s, &future)
	isHeld := func(h *hold) bool {
		return slices.ContainsFunc(proven, func(p hold) bool { return p.lockName == h.lockName })
	}
	for _, h := range proven {
		if h.via == 0 {
			held = true
			if _, ok := w.refTo(s, &h, false); !ok {
				doubt = NotInFrame
			}
		}
	}
	for _, h := range s.holds {
		if h.via == 0 && !isHeld(&h) {
			held, doubt = true, max(doubt, h.doubt)
		}
	}
	return doubt, held
}
