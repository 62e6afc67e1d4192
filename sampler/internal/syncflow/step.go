package syncflow

import "github.com/cpprof/cpprof/sampler/internal/goruntime"

// step brings a state past an instruction.
func (w *flow) step(s *state, x *instr) {
	vs := w.values
	if x.update != noReg && x.pre != 0 {
		s.regs[x.update] = vs.add(w.name(s, x, x.update), x.pre)
	}
	switch x.op {
	case opMove:
		v := w.address(s, x)
		if off, ok := vs.inFrame(v); ok && x.size == takesAddress {
			w.taken[off] = true
		}
		s.regs[x.dst] = v
	case opLoad:
		w.load(s, x)
	case opStore:
		w.store(s, x)
	case opCall:
		w.call(s, x)
	case opJump:
		if x.target < w.f.Entry || x.target >= w.f.End {
			w.call(s, x) // and returns to the caller
		}
	case opJumpTo:
		if x.indirect {
			w.call(s, x)
		}
	case opSwap, opAdd:
		w.atomic(s, x)
	}
	w.kill(s, x.kills)
	if x.update != noReg && x.post != 0 {
		s.regs[x.update] = vs.add(w.name(s, x, x.update), x.post)
	}
}

func (w *flow) kill(s *state, m uint32) {
	for r := range reg(numRegs) {
		if m>>r&1 == 1 {
			s.regs[r] = 0
		}
	}
}

// name gives what a register holds, by a new name where that is not known.
func (w *flow) name(s *state, x *instr, r reg) value {
	if r == noReg {
		return 0
	}
	if s.regs[r] == 0 {
		v := w.values.named(x.pc, int(r))
		s.forget(w.values, v)
		s.regs[r] = v
	}
	return s.regs[r]
}

// Numbers of what is first used at an instruction and is no register.
const (
	firstWord  = 64 // it loads
	resultName = 66 // of a call
)

// address gives an operand's value, or its address where it is in memory.
func (w *flow) address(s *state, x *instr) value {
	o := &x.a
	var v value
	if o.base == noReg {
		if o.inMemory && o.off == 0 {
			return 0
		}
		v = w.values.constant(o.off)
	} else {
		v = w.values.add(w.name(s, x, o.base), o.off)
	}
	if o.index != noReg {
		v = w.values.sum(v, w.name(s, x, o.index), int64(o.scale))
	}
	return v
}

func (w *flow) load(s *state, x *instr) {
	if x.size != 8 || x.a.base == noReg && x.a.off == 0 {
		w.set(s, x.dst, 0)
		w.set(s, x.dst2, 0)
		return
	}
	at := w.address(s, x)
	v := w.word(s, x, at, 0)
	w.set(s, x.dst, v)
	if x.dst2 != noReg {
		w.set(s, x.dst2, w.word(s, x, w.values.add(at, 8), 1))
	}
}

func (w *flow) set(s *state, r reg, v value) {
	if r != noReg {
		s.regs[r] = v
	}
}

// word gives the word of memory at an address. What is loaded anew can be another word than the one loaded before from
// there, so that nothing keeps its name.
func (w *flow) word(s *state, x *instr, at value, n int) value {
	if at == 0 {
		return 0
	}
	if off, ok := w.values.inFrame(at); ok {
		v := s.slot(off)
		if v == 0 {
			v = w.values.named(x.pc, firstWord+n)
			s.forget(w.values, v)
			s.setSlot(off, v)
		}
		return v
	}
	v := w.values.load(at)
	for i, r := range s.regs {
		if base, _ := w.values.split(r); base == v && v != 0 {
			s.regs[i] = 0
		}
	}
	for i := range s.slots {
		if base, _ := w.values.split(s.slots[i].v); base == v && v != 0 {
			s.slots[i].v = 0
		}
	}
	return v
}

func (w *flow) store(s *state, x *instr) {
	at := w.address(s, x)
	if x.a.index != noReg && x.a.base != noReg {
		// An element of an array in the frame: any from its beginning on.
		if off, ok := w.values.inFrame(s.regs[x.a.base]); ok {
			s.killSlots(off+x.a.off, 1<<40)
		}
		return
	}
	off, ok := w.values.inFrame(at)
	if !ok {
		return
	}
	if x.size != 8 {
		s.killSlots(off, off+int64(x.size))
		return
	}
	w.put(s, x, off, x.src)
	if x.src2 != noReg || x.src == noReg && x.dst2 != noReg {
		w.put(s, x, off+8, x.src2)
	}
}

func (w *flow) put(s *state, x *instr, off int64, r reg) {
	if r == noReg {
		s.killSlots(off, off+8)
		return
	}
	if r == spReg && w.a.machine.sp == spReg { // the zero register
		s.setSlot(off, w.values.constant(0))
		return
	}
	s.setSlot(off, w.name(s, x, r))
}

// atomic takes the instructions that take and give back locks where Lock and Unlock are inlined. That a compare and swap
// is Lock's shows where it can fail: see branch.
func (w *flow) atomic(s *state, x *instr) {
	at := w.address(s, x)
	if x.op == opSwap {
		s.swapped = at
		return
	}
	e, ok := w.events[x.pc]
	if !ok {
		s.added = at
		return
	}
	s.added = 0
	lock, mode := w.values.add(at, -e.Field), Write
	if e.Read {
		mode = Read
	}
	if e.Takes {
		s.acquire(lock, mode, true)
	} else {
		w.release(s, lock, mode)
	}
}

// branch brings the state at a branch to one of the ways from it. Where the other way leads to the slow path of a
// function of package sync, that function is inlined, and the atomic instruction before is its fast path. (The
// compiler does not always say of that instruction that it is inlined.)
func (w *flow) branch(s *state, from, to *block) {
	slow := goruntime.CallOther
	for _, j := range from.next {
		if r := w.blocks[j].slow; r != goruntime.CallOther {
			slow = r
		}
	}
	reader := w.values.add(s.added, -goruntime.RWMutexReaderCount)
	switch {
	case slow == goruntime.CallLockSlow:
		if to.slow != goruntime.CallLockSlow {
			s.acquire(s.swapped, Write, true)
		}
		s.swapped = 0
	case s.added == 0:
	case slow == goruntime.CallUnlockSlow:
		w.release(s, s.added, Write)
		s.added = 0
	case slow == goruntime.CallRUnlockSlow:
		w.release(s, reader, Read)
		s.added = 0
	case slow == goruntime.CallReadSlow:
		s.acquire(reader, Read, true)
		s.added = 0
	}
}

// release gives a lock back. A name that the function's caller understands is foreign.
func (w *flow) release(s *state, lock value, m Mode) {
	s.release(lock, m, lock != 0 && w.byEntry(lock) != nil)
}
