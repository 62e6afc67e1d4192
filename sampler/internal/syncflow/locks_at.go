package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/internal/machinecode"
)

// A siteLocks is what a frame at one place in the code shows about locks.
type siteLocks struct {
	held     []lockRef // taken, and not released yet
	released []lockRef // released, without having been taken in this function; lock is nil if it is not known
	// later are locks that the function which is being called takes for this one, which releases them later.
	later []lockRef
	// doubtful are locks that may be held. lock is nil if nothing leads to the lock.
	doubtful []lockRef
	// unknown: nothing can be said of this frame, nor of those that called it. Deferred functions run, or a lock is released for
	// the time of a wait.
	unknown bool
	// saved are the words, relative to the stack pointer, that hold the registers of the interrupted function, in a frame of one
	// that interrupts.
	saved map[int]int64
}

// A lockRef is a lock, and how to find its address from a frame.
type lockRef struct {
	lock *expr
	mode Mode
	via  *expr // the interface's table of methods, if only that table shows what lock leads to; else nil
	// passedOn: the function returns without releasing it. It counts only if a caller releases it later.
	passedOn  bool
	certainty Certainty
}

// unknownLocks is what a frame shows of which nothing can be said.
func unknownLocks() *siteLocks {
	return &siteLocks{unknown: true, doubtful: []lockRef{{certainty: Possible}}}
}

// locksAt returns what a frame at an instruction shows about locks. If pc is a return address, the frame is in the call before it.
func (w *flow) locksAt(pc uint64, exact bool) *siteLocks {
	i := w.instructionAt(pc, exact)
	if i < 0 {
		return unknownLocks()
	}
	s := w.stateBefore(i)
	if s == nil {
		return unknownLocks() // only the runtime leads here
	}
	p := &siteLocks{}
	if !exact {
		p.later = w.releasedLater(s, i)
		w.duringCall(s, &w.code[i])
	}
	for _, h := range w.proven(s, i, exact) {
		r := lockRef{lock: w.exprFor(s, h.lock, exact, 0), mode: h.mode}
		if h.via != 0 {
			r.via = w.exprFor(s, h.via, exact, 0)
		}
		if r.lock != nil && (h.via == 0 || r.via != nil) {
			r.passedOn = h.via == 0 && w.passesOn(i, h.lock, h.mode)
			p.held = append(p.held, r)
		}
	}
	p.doubtful = w.doubtfulLocks(s, i, exact)
	for _, r := range s.released {
		p.released = append(p.released, lockRef{lock: w.exprFor(s, r.lock, exact, 0), mode: r.mode, via: w.exprFor(s, r.via, exact, 0)})
	}
	return p
}

// proven returns the locks that are held at an instruction, or during the call that it is: those that were taken and surely not
// released, and those that will be released. s is the state.
func (w *flow) proven(s *state, i int, exact bool) (holds []hold) {
	for _, h := range s.holds {
		if h.sure() {
			holds = append(holds, h)
		}
	}
	for _, r := range w.futureAt(i, exact).releases {
		h := hold{lock: r.lock, mode: r.mode, via: r.via}
		k := slices.IndexFunc(s.holds, func(o hold) bool { return o.same(&h) })
		// What is known by an interface only is a lock only if it was taken as one.
		if k >= 0 && !s.holds[k].sure() || k < 0 && !r.weak && r.via == 0 {
			holds = append(holds, h)
		}
	}
	return holds
}

// maxExpr bounds the depth of an expression.
const maxExpr = 6

// exprFor returns an expression for a value: a constant, a word of the frame or a register that holds the value or something at a
// fixed distance from it, or an expression of the values that it is made of. It is nil if nothing in the frame leads there.
func (w *flow) exprFor(s *state, v value, exact bool, depth int) *expr {
	if v == 0 || depth > maxExpr {
		return nil
	}
	vs := w.values
	n := vs.nodes[v]
	if n.kind == kConst {
		return &expr{kind: exprConst, c: n.c}
	}
	base, off := vs.split(v)
	sp, known := vs.inFrame(s.regs[w.a.machine.SP])
	if known {
		for i := range s.slots {
			if b, o := vs.split(s.slots[i].v); b == base {
				return plus(&expr{kind: exprStackWord, c: s.slots[i].off - sp}, off-o)
			}
		}
	}
	if exact {
		for r := range machinecode.Reg(machinecode.NumRegs) {
			if b, o := vs.split(s.regs[r]); b == base && b != 0 {
				return plus(&expr{kind: exprRegister, c: int64(r)}, off-o)
			}
		}
	}
	switch n = vs.nodes[base]; n.kind {
	case kLoad:
		if a := w.exprFor(s, n.a, exact, depth+1); a != nil {
			return plus(exprOf(n, a, nil), off)
		}
	case kSum:
		a, b := w.exprFor(s, n.a, exact, depth+1), w.exprFor(s, n.b, exact, depth+1)
		if a != nil && b != nil {
			return plus(exprOf(n, a, b), off)
		}
	}
	return nil
}

func plus(e *expr, c int64) *expr {
	if c == 0 {
		return e
	}
	return &expr{kind: exprAdd, a: e, c: c}
}

// savedRegisters returns where a function that interrupts another one has saved the registers of that one.
func (w *flow) savedRegisters(pc uint64, exact bool) *siteLocks {
	p := &siteLocks{}
	i := w.instructionAt(pc, exact)
	if i < 0 {
		return p
	}
	s := w.stateBefore(i)
	if s == nil {
		return p
	}
	sp, known := w.values.inFrame(s.regs[w.a.machine.SP])
	for _, word := range s.slots {
		if n := w.values.nodes[word.v]; known && n.kind == kEntry {
			if p.saved == nil {
				p.saved = map[int]int64{}
			}
			p.saved[int(n.a)] = word.off - sp
		}
	}
	return p
}
