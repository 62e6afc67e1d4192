package syncflow

import (
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A lock that a function has taken may be released by another
// goroutine: then the function's goroutine does not hold it any
// more, although nothing in its code says so. Example:
//
//	func (s *summary) flush() {
//		s.mu.Lock()
//		go func() { s.write(); s.mu.Unlock() }()
//		s.wait() // here the new goroutine holds s.mu
//	}
//
// The function returns without having released the lock, and so
// does its caller. In a helper that only takes a lock, it is the
// caller that releases it. So a lock that a function does not
// release counts only if one of its callers releases it later.

// passesOn reports whether a function never releases, from an
// instruction on, a lock that is held there: it returns without
// having done so, or is in a loop for ever. If it only panics, a
// deferred function may release the lock. Calls of unknown
// functions release nothing: code that starts a goroutine to
// release a lock may call such functions, too.
func (w *flow) passesOn(i int, lock value, m Mode) bool {
	start := w.blockOf(i)
	s := w.stateBefore(i)
	if s == nil {
		return false
	}
	seen := make([]bool, len(w.blocks))
	work := []int{}
	returns, panics := false, false
	walk := func(at int, s *state, from int) (released bool) {
		b := &w.blocks[at]
		w.a.spend((b.last - from + 1) / 4)
		for k := from; k <= b.last; k++ {
			before := s.doubtAbout(lock, m)
			w.step(s, &w.code[k])
			if d := s.doubtAbout(lock, m); d > before && d != CallsFunc && d != CallsMethod {
				return true
			}
		}
		x := &w.code[b.last]
		returns = returns || w.exits(x)
		panics = panics || x.Op == machinecode.OpCall && !x.Indirect && w.a.callee(x.Target).panics
		for n, next := range b.next {
			onWay := s
			if x.Op == machinecode.OpBranch {
				onWay = s.clone()
				w.branch(onWay, b, n)
			}
			if onWay.find(lock, m) < 0 {
				return true
			}
			if !seen[next] {
				seen[next] = true
				work = append(work, next)
			}
		}
		return false
	}
	if walk(start, s, i) {
		return false
	}
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		if in := w.blocks[at].in; in == nil || in.find(lock, m) < 0 ||
			walk(at, in.clone(), w.blocks[at].first) {
			return false
		}
	}
	return returns || !panics
}

// doubtAbout returns the doubt about a lock that may be held;
// NumDoubts if it is not.
func (s *state) doubtAbout(lock value, m Mode) Doubt {
	if i := s.find(lock, m); i >= 0 {
		return s.holds[i].doubt
	}
	return NumDoubts
}

// releasedLater returns the locks that a call takes for the
// function, which releases them later.
func (w *flow) releasedLater(s *state, i int) (later []lockRef) {
	x := &w.code[i]
	if x.Op != machinecode.OpCall {
		return nil
	}
	target, _ := w.target(s, x)
	if target == 0 {
		return nil
	}
	add := func(lock value, m Mode) {
		if lock == 0 {
			return
		}
		if at := w.exprFor(s, lock, false, 0); at != nil && i+1 < len(w.code) && !w.passesOn(i+1, lock, m) {
			later = append(later, lockRef{lock: at, mode: m})
		}
	}
	c := w.a.callee(target)
	if l := syncCalls[c.role]; l.change == takes || c.role == goruntime.CallReadSlow {
		add(w.values.add(s.regs[w.a.machine.argument], l.offset), l.mode)
	}
	for _, e := range w.a.effectsOf(c, w.depth+1) {
		if e.change == takes {
			add(w.valueAtCall(s, e.lock), e.mode)
		}
	}
	return later
}
