package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A LockPath says how a function reached the lock that it takes:
// at an instruction, a register had a pointer. In c.mu.Lock(),
// the lock lies at an offset from what c points to. In
// c.next.mu.Lock(), it lies at the second offset from what the
// word at the first one points to. By now, the register may have
// another value.
type LockPath struct {
	// at the function's entry, the register has an argument, or the closure
	PC       uint64
	Register machinecode.Reg // as instructions number it
	Offsets  []int64
}

// Bounds of what is searched for pointers to a lock.
const (
	maxLockPaths = 32
	maxLookBack  = 96 // instructions
)

// LockPaths is for a frame in a call that takes a lock, or waits
// for a channel, a group or a condition. It returns the ways in
// which the frame's function reached that, if the code shows
// some.
func (a *Analyzer) LockPaths(f *unwind.Frame) (paths []LockPath) {
	w, i, s := a.callIn(f)
	if s == nil {
		return nil
	}
	return w.pathsTo(i, w.waitedFor(s, a.callee(w.code[i].Target).role))
}

// CasePaths is for a frame in a select. It returns the ways in
// which the frame's function reached one of the channels.
func (a *Analyzer) CasePaths(f *unwind.Frame, channel uint64, m Memory) (paths []LockPath) {
	w, i, s := a.callIn(f)
	if s == nil || a.callee(w.code[i].Target).role != goruntime.CallSelect {
		return nil
	}
	sp, known := w.values.inFrame(s.regs[w.a.machine.SP])
	if at, _, cases := w.casesOf(s); known {
		for k := range cases {
			word := at + 16*k
			if c, ok := m.Stack(f.SP + uint64(word-sp)); ok && c == channel {
				paths = append(paths, w.pathsTo(i, s.slot(word))...)
			}
		}
	}
	return paths
}

// callIn returns the flow of a frame's function, the index of
// the call that the frame is in, and the state before it. The
// state is nil if that is not known.
func (a *Analyzer) callIn(f *unwind.Frame) (w *flow, i int, s *state) {
	fn, found := a.p.Table.Func(f.PC)
	if !found || f.Exact || a.left <= 0 {
		return nil, 0, nil
	}
	if w = a.flowOf(fn); w == nil {
		return nil, 0, nil
	}
	if i = w.callBefore(f.PC); i < 0 || w.code[i].Indirect {
		return nil, 0, nil
	}
	return w, i, w.stateBefore(i)
}

// pathsTo returns the ways in which a function reached a value
// before an instruction.
func (w *flow) pathsTo(i int, v value) (paths []LockPath) {
	pointers := w.pointersTo(v)
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

// fromArgument returns a path that begins with an argument of
// the function, or with its closure; nil if the pointer is
// neither.
func (w *flow) fromArgument(p *pointer) *LockPath {
	n := w.values.nodes[p.base]
	r, m := machinecode.Reg(n.c), w.a.machine
	if n.kind != kEntry || r != m.closure && !slices.Contains(m.arguments[:], r) {
		return nil
	}
	return &LockPath{w.f.Entry, r, p.offsets}
}

// waitedFor returns the address of the lock, channel, group or
// condition that a call may wait for; 0 if there is none.
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

// pointersTo returns the pointers from which a lock was reached, the
// nearest first.
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

// lockPathsAt returns the registers that have one of the
// pointers before an instruction.
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
