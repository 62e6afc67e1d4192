package syncflow

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A siteLocks is what a frame at one place in the code shows about locks.
type siteLocks struct {
	held []lockRef // taken, and not released yet
	// released, without having been taken in this function; lock
	// is nil if it is not known
	released []lockRef
	// later are locks that the function which is being called
	// takes for this one, which releases them later.
	later []lockRef
	// doubtful are locks that may be held. lock is nil if
	// nothing leads to the lock.
	doubtful []lockRef
	// made are calls of functions that only the frame shows, and
	// toCome are those that follow, which may release locks.
	// lock is the address of the function, via its first
	// argument.
	made, toCome []lockRef
	// unknown: nothing can be said of this frame, nor of its
	// callers. Deferred functions run, or a Cond waits. A Cond
	// releases just one lock: if released leads to it, the rest
	// is known.
	unknown bool
	// saved are the words, relative to the stack pointer, that
	// hold the registers of the interrupted function, in a frame
	// of one that interrupts.
	saved map[int]int64
}

// save notes the word that holds a register.
func (p *siteLocks) save(register int, word int64) {
	if p.saved == nil {
		p.saved = map[int]int64{}
	}
	p.saved[register] = word
}

// A lockRef is a lock, and how to find its address from a frame.
type lockRef struct {
	lock *expr
	mode Mode
	// the interface's table of methods, if only that table shows
	// what lock leads to; else nil
	via *expr
	// under: the lock is held only if the condition is true.
	under *expr
	mask  uint8
	zero  bool
	// passedOn: the function returns without releasing it. It counts only if
	// a caller releases it later.
	passedOn  bool
	certainty Certainty
}

// unknownLocks says that a frame may hold locks that nothing is
// known about.
func unknownLocks() *siteLocks {
	return &siteLocks{unknown: true, doubtful: []lockRef{{certainty: Possible}}}
}

// locksAt returns what a frame at an instruction shows about
// locks. If pc is a return address, the frame is in the call
// before it.
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
	future := w.futureAt(i, exact)
	for _, h := range w.proven(s, &future) {
		if r, ok := w.refTo(s, &h, exact); ok {
			r.passedOn = h.via == 0 && w.passesOn(i, h.lock, h.mode)
			p.held = append(p.held, r)
		}
	}
	if p.toCome = w.callsToCome(s, &future, exact); len(p.toCome) > 0 {
		p.made = w.callsMade(s, exact)
	}
	p.doubtful = append(w.doubtfulLocks(s, i, exact), w.maybeReleased(s, &future, exact)...)
	for _, r := range s.released {
		if r.call {
			continue // what it releases, the frame of that call says
		}
		p.released = append(p.released,
			lockRef{lock: w.exprFor(s, r.lock, exact, 0), mode: r.mode,
				via: w.exprFor(s, r.via, exact, 0)})
	}
	return p
}

// refTo returns how to find a lock that is held, and the
// condition under which it is. It reports false if nothing in
// the frame leads to them.
func (w *flow) refTo(s *state, h *hold, exact bool) (r lockRef, ok bool) {
	here := s.assume(h.under)
	r = lockRef{lock: w.exprFor(here, h.lock, exact, 0), mode: h.mode}
	if h.via != 0 {
		r.via = w.exprFor(here, h.via, exact, 0)
	}
	if h.under.v != 0 {
		r.under, r.mask, r.zero = w.exprFor(s, h.under.v, exact, 0), h.under.mask, h.under.zero
	}
	return r, r.lock != nil && (h.via == 0 || r.via != nil) && (h.under.v == 0 || r.under != nil)
}

// proven returns the locks that are held at an instruction, or
// during the call that it is: those that were taken and surely
// not released, and those that will be released. s is the state,
// and f is what the code will do from there on.
func (w *flow) proven(s *state, f *future) (holds []hold) {
	for _, h := range s.holds {
		if h.sure() {
			holds = append(holds, h)
		}
	}
	for _, r := range f.releases {
		if r.call {
			continue
		}
		h := hold{lockName: r.lockName}
		k := s.indexOf(r.lockName)
		// What is known by an interface only is a lock only if
		// it was taken as one.
		if k >= 0 && !s.holds[k].sure() || k < 0 && !r.weak && r.via == 0 {
			holds = append(holds, h)
		}
	}
	for _, h := range s.holds {
		if h.doubt == NoDoubt &&
			!slices.ContainsFunc(holds, func(o hold) bool { return o.lockName == h.lockName }) {
			holds = append(holds, h) // under a condition
		}
	}
	return holds
}

// maxExpr bounds the depth of an expression.
const maxExpr = 6

// exprFor returns an expression for a value: a constant, a word
// of the frame or a register that holds the value or something
// at a fixed distance from it, or an expression of the values
// that it is made of. It is nil if nothing in the frame leads
// there.
func (w *flow) exprFor(s *state, v value, exact bool, depth int) *expr {
	if v == 0 || depth > maxExpr {
		return nil
	}
	vs := w.values
	n := vs.nodes[v]
	if n.kind == kConst {
		return &expr{kind: kConst, c: n.c}
	}
	base, off := vs.split(v)
	sp, known := vs.inFrame(s.regs[w.a.machine.SP])
	if n.kind == kByte || n.kind == kLow {
		return w.byteExpr(s, v, exact, depth)
	}
	if known {
		for i := range s.slots {
			if b, o := vs.split(s.slots[i].v); b == base {
				return plus(&expr{kind: kStackWord, c: s.slots[i].off - sp}, off-o)
			}
		}
	}
	if exact {
		for r := range machinecode.Reg(machinecode.NumRegs) {
			if b, o := vs.split(s.regs[r]); b == base && b != 0 {
				return plus(&expr{kind: kEntry, c: int64(r)}, off-o)
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

// byteExpr returns an expression for a byte, or nil.
func (w *flow) byteExpr(s *state, v value, exact bool, depth int) *expr {
	vs := w.values
	at := int64(0)
	sp, known := vs.inFrame(s.regs[w.a.machine.SP])
	i := slices.IndexFunc(s.bytes, func(b slot) bool { return b.v == v })
	off, ok := vs.byteInFrame(v)
	switch {
	case known && ok:
		at = off
	case known && i >= 0:
		at = s.bytes[i].off
	default:
		word := vs.nodes[v].a
		if vs.nodes[v].kind == kByte {
			word = vs.load(word)
		}
		e := w.exprFor(s, word, exact, depth+1)
		if e == nil {
			return nil
		}
		return &expr{kind: kLow, a: e}
	}
	return &expr{kind: kLow, a: &expr{kind: kStackWord, c: at - sp}}
}

func plus(e *expr, c int64) *expr {
	if c == 0 {
		return e
	}
	return &expr{kind: kAdd, a: e, c: c}
}

// savedRegisters returns where a function that interrupts another one has
// saved the registers of that one.
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
			p.save(int(n.c), word.off-sp)
		}
	}
	return p
}
