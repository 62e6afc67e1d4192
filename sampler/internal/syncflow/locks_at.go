package syncflow

import "github.com/cpprof/cpprof/sampler/internal/machinecode"

// A Place is what a frame at one place in the code says about locks.
type siteLocks struct {
	Holds    []lockRef // taken, and not yet given back
	Releases []lockRef // given back, without having been taken in this function; Lock is nil where it is not known
	// Void: of the frames outside of this one, and of this one, nothing can be said: deferred functions run, or a lock
	// is given back for the time of a wait.
	Void bool
	// Saved are the words, relative to the stack pointer, that hold the registers of the frame outside of this one, for
	// a function that interrupts.
	Saved map[int]int64
}

// A Claim is a lock, and how to find its address from a frame.
type lockRef struct {
	Lock *expr
	Mode Mode
	Via  *expr // table of methods of an interface, which tells what Lock leads to; nil where that is known
}

// place says what holds at an instruction, or, where it is a return address, during the call before it.
func (w *flow) locksAt(pc uint64, exact bool) *siteLocks {
	i := w.indexOf(pc)
	if !exact {
		if i = w.callBefore(pc); i < 0 {
			return &siteLocks{Void: true}
		}
	}
	if i < 0 {
		return &siteLocks{Void: true}
	}
	s := w.stateBefore(i)
	if s == nil {
		return &siteLocks{Void: true} // only the runtime leads here
	}
	if !exact {
		w.duringCall(s, &w.code[i])
	}
	p := &siteLocks{}
	for _, h := range s.holds {
		if !h.sure {
			continue
		}
		c := lockRef{Lock: w.exprFor(s, h.lock, exact, 0), Mode: h.mode}
		if h.via != 0 {
			c.Via = w.exprFor(s, h.via, exact, 0)
		}
		if c.Lock != nil && (h.via == 0 || c.Via != nil) {
			p.Holds = append(p.Holds, c)
		}
	}
	for _, r := range s.released {
		p.Releases = append(p.Releases, lockRef{Lock: w.exprFor(s, r.lock, exact, 0), Mode: r.mode})
	}
	return p
}

// maxTerm bounds the depth of a term.
const maxExpr = 6

// locate finds a value in the frame: a constant, a word or register that holds it or something at a fixed distance, or
// what it is made of. Nil: nothing leads to it.
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

func plus(t *expr, c int64) *expr {
	if c == 0 {
		return t
	}
	return &expr{kind: exprAdd, a: t, c: c}
}

// injection finds where a function that interrupts another one saved its registers.
func (w *flow) savedRegisters(pc uint64, exact bool) *siteLocks {
	p := &siteLocks{}
	i := w.indexOf(pc)
	if !exact {
		i = w.callBefore(pc)
	}
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
			if p.Saved == nil {
				p.Saved = map[int]int64{}
			}
			p.Saved[int(n.a)] = word.off - sp
		}
	}
	return p
}
