package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A LockPath says how a function reached the lock that it takes: at an
// instruction, a register had a pointer. In c.mu.Lock(), the lock lies at an
// offset from what c points to. In c.next.mu.Lock(), it lies at the second
// offset from what the word at the first one points to. By now, the register
// may have another value.
type LockPath struct {
	PC       uint64          // at the function's entry, the register has an argument
	Register machinecode.Reg // as instructions number it
	Offsets  []int64
}

// Bounds of what is searched for pointers to a lock.
const (
	maxLockPaths = 32
	maxLookBack  = 96 // instructions
)

// LockPaths is for a frame in a call that takes a lock, or waits for a channel,
// a group or a condition. It returns the ways in which the frame's function
// reached that, if the code shows some.
func (a *Analyzer) LockPaths(f *unwind.Frame) (paths []LockPath) {
	fn, found := a.p.Table.Func(f.PC)
	if !found || f.Exact || a.left <= 0 {
		return nil
	}
	w := a.flowOf(fn)
	if w == nil {
		return nil
	}
	i := w.callBefore(f.PC)
	if i < 0 || w.code[i].Indirect {
		return nil
	}
	s := w.stateBefore(i)
	if s == nil {
		return nil
	}
	pointers := w.pointersTo(w.waitedFor(s, a.callee(w.code[i].Target).role))
	for _, p := range pointers {
		if path := w.fromArgument(&p); path != nil {
			paths = append(paths, *path)
		}
	}
	for k := i; k >= max(0, i-maxLookBack) && len(pointers) > 0 && len(paths) < maxLockPaths; k-- {
		if s := w.stateBefore(k); s != nil {
			paths = append(paths, w.lockPathsAt(s, w.code[k].PC, pointers)...)
		}
	}
	return paths
}

// fromArgument returns a path that begins with an argument of the function;
// nil if the pointer is none.
func (w *flow) fromArgument(p *pointer) *LockPath {
	n := w.values.nodes[p.base]
	r := machinecode.Reg(n.a)
	if n.kind != kEntry || !slices.Contains(w.a.machine.arguments[:], r) {
		return nil
	}
	return &LockPath{w.f.Entry, r, p.offsets}
}

// waitedFor returns the address of the lock, channel, group or condition that a
// call may wait for; 0 if there is none.
func (w *flow) waitedFor(s *state, called goruntime.CallRole) value {
	switch called {
	case goruntime.CallSend, goruntime.CallReceive, goruntime.CallGroupWait, goruntime.CallCondWait:
		return s.regs[w.a.machine.argument]
	}
	if l := syncCalls[called]; l.change == takes || called == goruntime.CallReadSlow {
		return w.values.add(s.regs[w.a.machine.argument], l.offset)
	}
	return 0
}

// A pointer is a value from which a lock was reached.
type pointer struct {
	base    value
	offsets []int64
}

// pointersTo returns the pointers from which a lock was reached, the nearest first.
func (w *flow) pointersTo(lock value) (all []pointer) {
	var offsets []int64
	for lock != 0 {
		base, offset := w.values.split(lock)
		offsets = append([]int64{offset}, offsets...)
		if base != 0 {
			all = append(all, pointer{base, offsets})
		}
		n := w.values.nodes[base]
		if n.kind != kLoad {
			break
		}
		lock = n.a
	}
	return all
}

// lockPathsAt returns the registers that have one of the pointers before an
// instruction.
func (w *flow) lockPathsAt(s *state, pc uint64, pointers []pointer) (paths []LockPath) {
	for r, v := range s.regs {
		for _, p := range pointers {
			if v == p.base {
				paths = append(paths, LockPath{pc, machinecode.Reg(r), p.offsets})
			}
		}
	}
	return paths
}
