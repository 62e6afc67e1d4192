package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A LeftLock is a lock that a function has taken, and still
// holds where it returns, although it gives it back on another
// way out. Example:
//
//	func (s *store) set(k string) error {
//		s.mu.Lock()
//		if k == "" {
//			return errEmpty // still locked
//		}
//		s.mu.Unlock()
//		return nil
//	}
//
// A function that holds the lock on all ways out takes it for
// its callers, and one that gives back what it has not taken,
// too.
type LeftLock struct {
	PC      uint64    // of the return
	Always  bool      // on all ways out
	Gives   bool      // the other way round: callers have taken it
	Address uint64    // of the lock, if the code names it; otherwise 0
	Path    *LockPath // from an argument to the lock; nil if the code names it
}

// LeftLocked returns the locks with which a function may return,
// or that it gives back for its callers. It reports false if no
// more code may be analysed.
func (a *Analyzer) LeftLocked(f pclntab.Func) (left []LeftLock, more bool) {
	if a.left <= 0 {
		return nil, false
	}
	c := a.callee(f.Entry)
	if c.role != goruntime.CallOther || c.wrapper || goruntime.IsSync(f.Name()) ||
		!a.relevant(c, 0) {
		return nil, true
	}
	w := a.newFlow(f, 0)
	if w == nil {
		return nil, true
	}
	return w.leftLocked(), true
}

// leftLocked returns the locks that are surely held at exits of
// the function, and those that it gives back there for its
// callers.
func (w *flow) leftLocked() (left []LeftLock) {
	var exits []*state
	var at []uint64
	for k, s := range w.states() {
		if x := &w.code[k]; x.Op == machinecode.OpReturn {
			s = s.clone()
			w.step(s, x)
			exits, at = append(exits, s), append(at, x.PC)
		}
	}
	for i, s := range exits {
		add := func(n lockName, always, gives bool) {
			one := LeftLock{PC: at[i], Always: always, Gives: gives}
			if n.via == 0 && n.lock != 0 && w.locate(&one, n.lock) {
				left = append(left, one)
			}
		}
		for j := range s.holds {
			h := &s.holds[j]
			given := slices.ContainsFunc(exits,
				func(o *state) bool { return o.find(h.lock, h.mode) < 0 })
			if h.sure() {
				add(h.lockName, !given, false)
			}
		}
		for _, r := range s.released {
			add(r, false, true)
		}
	}
	return left
}

// locate sets the address of a lock, or the path to it from an argument.
func (w *flow) locate(l *LeftLock, lock value) bool {
	if n := w.values.nodes[lock]; n.kind == kConst {
		l.Address = uint64(n.c)
		return true
	}
	for _, p := range w.pointersTo(lock) {
		if l.Path = w.fromArgument(&p); l.Path != nil {
			return true
		}
	}
	return false
}
