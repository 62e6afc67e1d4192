package syncflow

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// If a lock is taken on one of two paths that meet again, it is
// held there under the condition that led to that path:
//
//	if !l.disabled {
//		l.mu.Lock()
//	}
//	work() // here l.mu is held if l.disabled is 0
//	if !l.disabled {
//		l.mu.Unlock()
//	}
//
// If something in a goroutine's frame leads to what was tested,
// the sample shows whether it holds the lock. Conditions are
// tests of a byte: most are of type bool. Likewise, the compiler
// sets a byte in the frame if a deferred call is pending that is
// not always.

// A condition is that some bits of a byte are zero, or that they
// are not. The zero condition is none.
type condition struct {
	v    value // a kByte or kLow
	mask uint8
	zero bool
}

// not returns the opposite. none is its own opposite.
func (c condition) not() condition {
	c.zero = !c.zero && c.v != 0
	return c
}

// isAbout reports whether two conditions are the same or opposite.
func (c condition) isAbout(o condition) bool { return c.v == o.v && c.mask == o.mask }

// A conditionalSlot is a word of the frame whose value is known
// only if a condition is true. A lock that is held under the
// condition may lie there.
type conditionalSlot struct {
	slot
	under condition
}

// maxConditionalSlots bounds them.
const maxConditionalSlots = 16

// maxFacts bounds the conditions that are known to be true.
const maxFacts = 8

// addFact makes a condition true: locks that are held under it
// are held, and those under its opposite are not.
func (s *state) addFact(c condition) {
	s.facts = slices.DeleteFunc(s.facts, c.isAbout)
	if s.facts = append(s.facts, c); len(s.facts) > maxFacts {
		s.facts = slices.Delete(s.facts, 0, 1)
	}
	s.holds = slices.DeleteFunc(s.holds, func(h hold) bool { return h.under == c.not() })
	for i := range s.holds {
		if s.holds[i].under == c {
			s.holds[i].under = condition{}
		}
	}
	s.conditional = slices.DeleteFunc(s.conditional, func(w conditionalSlot) bool {
		if w.under == c && s.slot(w.off) == 0 {
			s.setSlot(w.off, w.v)
		}
		return w.under.isAbout(c)
	})
}

// assume returns a state in which a condition is true.
func (s *state) assume(c condition) *state {
	if c == (condition{}) {
		return s
	}
	s = s.clone()
	s.addFact(c)
	return s
}

// isTrue reports whether a condition is known to be true.
func (s *state) isTrue(vs *values, c condition) bool {
	if slices.Contains(s.facts, c) {
		return true
	}
	n := vs.nodes[c.v]
	if off, ok := vs.byteInFrame(c.v); ok {
		n = vs.nodes[s.byte(off)]
	}
	return n.kind == kConst && (uint8(n.c)&c.mask == 0) == c.zero
}

// difference returns a condition that is true in s, and false in
// o; none if there is no such one. The frame has its own bytes
// for longer than what was tested.
func (s *state) difference(vs *values, o *state) condition {
	for _, b := range s.bytes {
		if n := vs.nodes[b.v]; n.kind == kConst {
			c := condition{v: vs.byteAt(vs.frame(b.off)), mask: 0xff, zero: n.c == 0}
			if o.isTrue(vs, c.not()) {
				return c
			}
		}
	}
	for _, c := range s.facts {
		if o.isTrue(vs, c.not()) {
			return c
		}
	}
	return condition{}
}

// joinHolds makes the locks of s those that may be held if
// either state may be true. Those that only one of them has are
// held under a condition if one is known, else in doubt.
func (s *state) joinHolds(vs *values, o *state) {
	here, there := s.difference(vs, o), o.difference(vs, s)
	var holds []hold
	for _, h := range s.holds {
		if k := o.indexOf(h.lockName); k >= 0 {
			h.join(&o.holds[k], s.isTrue(vs, o.holds[k].under), o.isTrue(vs, h.under))
		} else {
			h.restrict(here, o.isTrue(vs, h.under.not()))
		}
		holds = append(holds, h)
	}
	for _, h := range o.holds {
		if s.indexOf(h.lockName) < 0 {
			h.restrict(there, s.isTrue(vs, h.under.not()))
			holds = append(holds, h)
		}
	}
	s.joinSlots(vs, o, here, there, holds)
	s.holds = holds
}

// joinSlots keeps the words of the frame that only one of two
// states knows and by which its locks can be found, under the
// condition that is true there and not in the other state.
func (s *state) joinSlots(vs *values, o *state, here, there condition, holds []hold) {
	kept := slices.DeleteFunc(s.conditional, func(w conditionalSlot) bool {
		return !slices.Contains(o.conditional, w) && !o.isTrue(vs, w.under.not())
	})
	add := func(w conditionalSlot) {
		if len(kept) < maxConditionalSlots && !slices.Contains(kept, w) {
			kept = append(kept, w)
		}
	}
	for _, w := range o.conditional {
		if s.isTrue(vs, w.under.not()) {
			add(w)
		}
	}
	keep := func(from, other *state, c condition) {
		for _, w := range from.slots {
			base, _ := vs.split(w.v)
			leads := slices.ContainsFunc(holds, func(h hold) bool {
				b, _ := vs.split(h.lock)
				return h.under == c && b == base
			})
			if c != (condition{}) && leads && other.slot(w.off) != w.v {
				add(conditionalSlot{w, c})
			}
		}
	}
	keep(s, o, here)
	keep(o, s, there)
	slices.SortFunc(kept, func(a, b conditionalSlot) int {
		return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.v, b.v))
	})
	s.conditional = kept
}

// restrict makes a lock that is not held in another state one
// that is held under a condition, which is false there. isFalse
// reports whether the one under which it is held already is
// false there.
func (h *hold) restrict(c condition, isFalse bool) {
	switch {
	case h.under != condition{} && isFalse:
	case h.under == condition{} && c != condition{} && h.doubt == NoDoubt:
		h.under = c
	default:
		h.under, h.doubt = condition{}, max(h.doubt, OnePath)
	}
}

// join makes h what is known of a lock that two states have,
// given whether the condition of each is true in the other one.
func (h *hold) join(o *hold, oIsTrueHere, hIsTrueThere bool) {
	h.doubt = max(h.doubt, o.doubt)
	switch {
	case h.under == o.under, o.under == condition{} && hIsTrueThere:
	case h.under == condition{} && oIsTrueHere:
		h.under = o.under
	default:
		h.under, h.doubt = condition{}, max(h.doubt, OnePath)
	}
}

// dropConditions forgets conditions about some values.
func (s *state) dropConditions(gone func(value) bool) {
	s.facts = slices.DeleteFunc(s.facts, func(c condition) bool { return gone(c.v) })
	for i := range s.holds {
		if h := &s.holds[i]; h.under.v != 0 && gone(h.under.v) {
			h.under, h.doubt = condition{}, max(h.doubt, OnePath)
		}
	}
	s.conditional = slices.DeleteFunc(s.conditional,
		func(w conditionalSlot) bool { return gone(w.under.v) })
	if gone(s.tested.v) {
		s.tested = condition{}
	}
}

// byte returns what is known of a byte of the frame.
func (s *state) byte(off int64) value {
	if i := slices.IndexFunc(s.bytes, func(b slot) bool { return b.off == off }); i >= 0 {
		return s.bytes[i].v
	}
	return 0
}

// maxBytes bounds the bytes of the frame that are kept track of.
const maxBytes = 16

// setByte writes a byte of the frame.
func (s *state) setByte(off int64, v value) {
	if v == 0 || len(s.bytes) >= maxBytes {
		return
	}
	s.bytes = append(s.bytes, slot{off, v})
	slices.SortFunc(s.bytes, func(a, b slot) int { return cmp.Compare(a.off, b.off) })
}

// storeByte brings a state past a store of one byte to the frame.
func (w *flow) storeByte(s *state, x *machinecode.Instr, off int64) {
	switch x.Src {
	case machinecode.NoReg:
	case machinecode.ConstantSrc:
		s.setByte(off, w.values.constant(int64(x.Constant)))
	default:
		s.setByte(off, w.values.low(w.nameOf(s, x, x.Src)))
	}
}

// killBytes forgets the bytes of the frame from one offset up to another.
func (w *flow) killBytes(s *state, from, to int64) {
	s.bytes = slices.DeleteFunc(s.bytes, func(b slot) bool { return from <= b.off && b.off < to })
	gone := func(v value) bool {
		off, ok := w.values.byteInFrame(v)
		return ok && from <= off && off < to
	}
	s.dropConditions(gone)
	for i, v := range s.regs {
		if gone(v) {
			s.regs[i] = 0
		}
	}
	s.bytes = slices.DeleteFunc(s.bytes, func(b slot) bool { return gone(b.v) })
}

// loadByte returns the byte at an address.
func (w *flow) loadByte(s *state, at value) value {
	if off, ok := w.values.inFrame(at); ok {
		if v := s.byte(off); v != 0 {
			return v
		}
	}
	return w.values.byteAt(at)
}

// test returns the condition that an instruction's test is true
// if what it tests is zero.
func (w *flow) test(s *state, x *machinecode.Instr) condition {
	at := w.address(s, x)
	v := w.values.low(at)
	if x.Operand.InMemory {
		v = w.loadByte(s, at)
	}
	if v == 0 || w.values.nodes[v].kind == kConst {
		return condition{}
	}
	return condition{v, x.Mask, true}
}

// conditionOf returns the condition under which a branch goes to
// its target, or on; none if it is not known.
func (w *flow) conditionOf(s *state, x *machinecode.Instr, toTarget bool) condition {
	c := s.tested
	if x.Mask != 0 {
		c = w.test(s, x)
	}
	if x.Cond == machinecode.CondOther || c.v == 0 {
		return condition{}
	}
	c.zero = (x.Cond == machinecode.CondZero) == toTarget
	return c
}

// takeEdge makes the condition true under which a branch goes to
// its target, or on.
func (w *flow) takeEdge(s *state, x *machinecode.Instr, toTarget bool) {
	if c := w.conditionOf(s, x, toTarget); c.v != 0 {
		s.addFact(c)
	}
}
