package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// LockArgument is for a frame in a call that takes a lock. It returns the argument of the frame's function through which the
// lock was reached: the lock lies at an offset from what the argument points to, as in c.mu.Lock() in a method of c. register is
// the argument's register, among those for integers and pointers, counted from 0; by now it may hold another value. LockArgument
// returns false if the lock was reached in another way, or if the code doesn't show how.
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
	return w.lockArgument(s, a.callee(w.code[i].Target).role)
}

// lockArgument returns by which argument of the function a call reaches the lock that it takes.
func (w *flow) lockArgument(s *state, called goruntime.CallRole) (register int, offset int64, ok bool) {
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
