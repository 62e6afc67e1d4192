package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/internal/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/machinecode"
)

// Receiver tells, of a frame that stands in a call which takes a lock, how far the lock lies from what the function was given
// when it was called, and in which of the registers for whole numbers and pointers, counted from 0: that is c of
// "c.mu.Lock()" in a method of c, which may be gone meanwhile. It is false where that is not so, or not known.
func (a *Analyzer) LockArgument(f *unwind.Frame) (register int, offset int64, ok bool) {
	fn, found := a.p.Table.Func(f.PC)
	if !found || f.Exact || a.left <= 0 {
		return 0, 0, false
	}
	w := a.flowOf(fn)
	if w == nil {
		return 0, 0, false
	}
	i := w.callBefore(f.PC)
	if i < 0 || w.code[i].Indirect {
		return 0, 0, false
	}
	s := w.stateBefore(i)
	if s == nil {
		return 0, 0, false
	}
	return w.argumentOf(s, a.callee(w.code[i].Target).role)
}

// given finds the lock of a call among what the function was given.
func (w *flow) argumentOf(s *state, called goruntime.CallRole) (register int, offset int64, ok bool) {
	m := w.a.machine
	lock := s.regs[m.argument]
	switch called {
	case goruntime.CallLock, goruntime.CallLockSlow, goruntime.CallRLock:
	case goruntime.CallReadSlow:
		lock = w.values.add(lock, -goruntime.RWMutexReaderSem)
	default:
		return 0, 0, false
	}
	base, offset := w.values.split(lock)
	n := w.values.nodes[base]
	register = slices.Index(m.arguments[:], machinecode.Reg(n.a))
	return register, offset, n.kind == kEntry && register >= 0
}
