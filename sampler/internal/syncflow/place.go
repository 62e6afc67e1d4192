package syncflow

import "github.com/cpprof/cpprof/sampler/internal/machinecode"

// A Place is what a frame at one place in the code says about locks.
type Place struct {
	Holds    []Claim // taken, and not yet given back
	Releases []Claim // given back, without having been taken in this function; Lock is nil where it is not known
	// Void: of the frames outside of this one, and of this one, nothing can be said: deferred functions run, or a lock
	// is given back for the time of a wait.
	Void bool
	// Saved are the words, relative to the stack pointer, that hold the registers of the frame outside of this one, for
	// a function that interrupts.
	Saved map[int]int64
}

// A Claim is a lock, and how to find its address from a frame.
type Claim struct {
	Lock *Term
	Mode Mode
	Via  *Term // table of methods of an interface, which tells what Lock leads to; nil where that is known
}

// place says what holds at an instruction, or, where it is a return address, during the call before it.
func (w *flow) place(pc uint64, exact bool) *Place {
	i := w.at(pc)
	if !exact {
		if i = w.ending(pc); i < 0 {
			return &Place{Void: true}
		}
	}
	if i < 0 {
		return &Place{Void: true}
	}
	s := w.before(i)
	if s == nil {
		return &Place{Void: true} // only the runtime leads here
	}
	if !exact {
		w.during(s, &w.code[i])
	}
	p := &Place{}
	for _, h := range s.holds {
		if !h.sure {
			continue
		}
		c := Claim{Lock: w.locate(s, h.lock, exact, 0), Mode: h.mode}
		if h.via != 0 {
			c.Via = w.locate(s, h.via, exact, 0)
		}
		if c.Lock != nil && (h.via == 0 || c.Via != nil) {
			p.Holds = append(p.Holds, c)
		}
	}
	for _, r := range s.released {
		p.Releases = append(p.Releases, Claim{Lock: w.locate(s, r.lock, exact, 0), Mode: r.mode})
	}
	return p
}

// ending gives the call that ends at an address, -1 for none.
func (w *flow) ending(pc uint64) int {
	i := w.at(pc)
	if i < 0 { // the end of the function
		i = len(w.code)
	}
	if i == 0 || w.code[i-1].Next != pc || w.code[i-1].Op != machinecode.OpCall {
		return -1
	}
	return i - 1
}

// maxTerm bounds the depth of a term.
const maxTerm = 6

// locate finds a value in the frame: a constant, a word or register that holds it or something at a fixed distance, or
// what it is made of. Nil: nothing leads to it.
func (w *flow) locate(s *state, v value, exact bool, depth int) *Term {
	if v == 0 || depth > maxTerm {
		return nil
	}
	vs := w.values
	n := vs.nodes[v]
	if n.kind == kConst {
		return &Term{kind: tConst, c: n.c}
	}
	base, off := vs.split(v)
	sp, known := vs.inFrame(s.regs[w.a.machine.SP])
	if known {
		for i := range s.slots {
			if b, o := vs.split(s.slots[i].v); b == base {
				return plus(&Term{kind: tSlot, c: s.slots[i].off - sp}, off-o)
			}
		}
	}
	if exact {
		for r := range machinecode.Reg(machinecode.NumRegs) {
			if b, o := vs.split(s.regs[r]); b == base && b != 0 {
				return plus(&Term{kind: tRegister, c: int64(r)}, off-o)
			}
		}
	}
	switch n = vs.nodes[base]; n.kind {
	case kLoad:
		if a := w.locate(s, n.a, exact, depth+1); a != nil {
			return plus(made(n, a, nil), off)
		}
	case kSum:
		a, b := w.locate(s, n.a, exact, depth+1), w.locate(s, n.b, exact, depth+1)
		if a != nil && b != nil {
			return plus(made(n, a, b), off)
		}
	}
	return nil
}

func plus(t *Term, c int64) *Term {
	if c == 0 {
		return t
	}
	return &Term{kind: tAdd, a: t, c: c}
}

// injection finds where a function that interrupts another one saved its registers.
func (w *flow) injection(pc uint64, exact bool) *Place {
	p := &Place{}
	i := w.at(pc)
	if !exact {
		i = w.ending(pc)
	}
	if i < 0 {
		return p
	}
	s := w.before(i)
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
