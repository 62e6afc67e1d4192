package syncflow

import (
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// step brings a state past an instruction.
func (w *flow) step(s *state, x *machinecode.Instr) {
	vs := w.values
	if x.Op != machinecode.OpBranch {
		s.tested = condition{}
	}
	if x.Update != machinecode.NoReg && x.Pre != 0 {
		s.regs[x.Update] = vs.add(w.nameOf(s, x, x.Update), x.Pre)
	}
	switch x.Op {
	case machinecode.OpMove:
		v := w.address(s, x)
		if off, ok := vs.inFrame(v); ok && x.Size == takesAddress {
			w.addressTaken[off] = true
		}
		s.regs[x.Dst] = v
	case machinecode.OpLoad:
		w.load(s, x)
	case machinecode.OpStore:
		w.store(s, x)
	case machinecode.OpCall:
		w.call(s, x)
	case machinecode.OpJump:
		if x.Target < w.f.Entry || x.Target >= w.f.End {
			w.call(s, x) // and returns to the caller
		}
	case machinecode.OpJumpTo:
		if x.Indirect {
			w.call(s, x)
		}
	case machinecode.OpSwap, machinecode.OpAdd:
		w.atomic(s, x)
	case machinecode.OpTest:
		s.tested = w.test(s, x)
	}
	w.kill(s, x.Kills)
	if x.Update != machinecode.NoReg && x.Post != 0 {
		s.regs[x.Update] = vs.add(w.nameOf(s, x, x.Update), x.Post)
	}
}

func (w *flow) kill(s *state, m uint32) {
	for r := range machinecode.Reg(machinecode.NumRegs) {
		if m>>r&1 == 1 {
			s.regs[r] = 0
		}
	}
}

// nameOf returns the value of a register. If it is not known, a
// new value represents it from here on.
func (w *flow) nameOf(s *state, x *machinecode.Instr, r machinecode.Reg) value {
	if r == machinecode.NoReg {
		return 0
	}
	if s.regs[r] == 0 {
		v := w.values.named(x.PC, int(r))
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

// address returns an operand's value, or its address if it is in memory.
func (w *flow) address(s *state, x *machinecode.Instr) value {
	o := &x.Operand
	var v value
	if o.Base == machinecode.NoReg {
		if o.InMemory && o.Offset == 0 {
			return 0
		}
		v = w.values.constant(o.Offset)
	} else {
		v = w.values.add(w.nameOf(s, x, o.Base), o.Offset)
	}
	if o.Index != machinecode.NoReg {
		v = w.values.sum(v, w.nameOf(s, x, o.Index), int64(o.Scale))
	}
	return v
}

func (w *flow) load(s *state, x *machinecode.Instr) {
	if x.Size == 1 && x.Operand.Base != machinecode.NoReg {
		w.set(s, x.Dst, w.loadByte(s, w.address(s, x)))
		return
	}
	if x.Size != 8 || x.Operand.Base == machinecode.NoReg && x.Operand.Offset == 0 {
		w.set(s, x.Dst, 0)
		w.set(s, x.Dst2, 0)
		return
	}
	at := w.address(s, x)
	v := w.loadWord(s, x, at, 0)
	w.set(s, x.Dst, v)
	if x.Dst2 != machinecode.NoReg {
		w.set(s, x.Dst2, w.loadWord(s, x, w.values.add(at, 8), 1))
	}
}

func (w *flow) set(s *state, r machinecode.Reg, v value) {
	if r != machinecode.NoReg {
		s.regs[r] = v
	}
}

// loadWord returns the word of memory at an address. It can be
// another word than the one that was loaded from there before:
// what holds that one is unknown from here on, since both would
// have the same value.
func (w *flow) loadWord(s *state, x *machinecode.Instr, at value, n int) value {
	if at == 0 {
		return 0
	}
	if off, ok := w.values.inFrame(at); ok {
		v := s.slot(off)
		if v == 0 {
			v = w.values.named(x.PC, firstWord+n)
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

func (w *flow) store(s *state, x *machinecode.Instr) {
	at := w.address(s, x)
	if x.Operand.Index != machinecode.NoReg && x.Operand.Base != machinecode.NoReg {
		// An element of an array in the frame: any from its
		// beginning on. If it is shorter than a pointer, the
		// array has none, and so none of the words that lead to
		// locks.
		if off, ok := w.values.inFrame(s.regs[x.Operand.Base]); ok {
			from, to := arrayAt(off + x.Operand.Offset)
			if w.killBytes(s, from, to); x.Size >= 8 {
				s.killSlots(from, to)
			}
		}
		return
	}
	off, ok := w.values.inFrame(at)
	if !ok {
		w.record(eventStores, at, 0, 0)
		w.putWords(s, x, at)
		if v, known := w.values.index[node{kind: kByte, a: at}]; known {
			s.dropConditions(func(c value) bool { return c == v })
		}
		return
	}
	w.killBytes(s, off, off+int64(max(x.Size, 1)))
	if x.Size != 8 {
		s.killSlots(off, off+int64(x.Size))
		if x.Size == 1 {
			w.storeByte(s, x, off)
		}
		return
	}
	w.put(s, x, off, x.Src)
	if x.Src2 != machinecode.NoReg || x.Src == machinecode.NoReg && x.Dst2 != machinecode.NoReg {
		w.killBytes(s, off+8, off+16)
		w.put(s, x, off+8, x.Src2)
	}
}

// arrayAt returns the words that an array at an offset in the
// frame may have. A local one ends before the arguments, which
// lie above the stack pointer at entry.
func arrayAt(off int64) (from, to int64) {
	if off < 0 {
		return off, 0
	}
	return off, 1 << 40
}

func (w *flow) put(s *state, x *machinecode.Instr, off int64, r machinecode.Reg) {
	if r == machinecode.NoReg {
		s.killSlots(off, off+8)
		return
	}
	if w.a.machine.ZeroIsSP && r == w.a.machine.SP {
		s.setSlot(off, w.values.constant(0))
		return
	}
	s.setSlot(off, w.nameOf(s, x, r))
}

// atomic brings a state past the instructions that take and
// release locks if Lock and Unlock are inlined. Whether a
// compare and swap belongs to Lock is known at the jump that
// follows it: see branch.
func (w *flow) atomic(s *state, x *machinecode.Instr) {
	at := w.address(s, x)
	if x.Op == machinecode.OpSwap {
		s.swapped = at
		if _, adds := w.atomics[x.PC]; !adds { // it may be an inlined TryLock or TryRLock
			w.record(eventTakes, at, Write, 0)
			w.record(eventTakes, w.values.add(at, -goruntime.RWMutexReaderCount), Read, 0)
		}
		return
	}
	e, ok := w.atomics[x.PC]
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
		w.acquire(s, lock, mode)
	} else {
		w.unlock(s, lock, mode)
	}
}

// branch brings the state at a branch to one of the two ways
// from it. If one of them leads to the slow path of a function
// of package sync, that function is inlined, and the atomic
// instruction before is its fast path:
//
//	lock cmpxchg [rdi], ecx   // swapped is the address in rdi
//	jne slow                  // on the way to slow, nothing is held yet; on the other way, the lock at rdi is
//
// (The compiler does not always say of that instruction that it
// is inlined.)
func (w *flow) branch(s *state, from *block, n int) {
	to := &w.blocks[from.next[n]]
	w.takeEdge(s, &w.code[from.last], n == 0 && len(from.next) == 2)
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
			w.acquire(s, s.swapped, Write)
		}
		s.swapped = 0
	case s.added == 0:
	case slow == goruntime.CallUnlockSlow:
		w.unlock(s, s.added, Write)
		s.added = 0
	case slow == goruntime.CallRUnlockSlow:
		w.unlock(s, reader, Read)
		s.added = 0
	case slow == goruntime.CallReadSlow:
		w.acquire(s, reader, Read)
		s.added = 0
	}
}

// acquire takes a lock.
func (w *flow) acquire(s *state, lock value, m Mode) {
	w.record(eventTakes, lock, m, 0)
	s.acquire(lock, m)
}

// acquireUnder takes a lock if a condition is true. If it is not
// known, nothing is known of the lock.
func (w *flow) acquireUnder(s *state, lock value, m Mode, c condition) {
	taken := s.find(lock, m) >= 0
	w.record(eventTakes, lock, m, 0)
	if isTrue := s.isTrue(w.values, c); isTrue ||
		c.v != 0 && !taken && !s.isTrue(w.values, c.not()) {
		s.acquire(lock, m)
		if i := s.find(lock, m); !isTrue {
			s.holds[i].under = c
		}
	}
}

// unlock releases a lock, on every path.
func (w *flow) unlock(s *state, lock value, m Mode) {
	w.record(eventReleases, lock, m, 0)
	w.release(s, lock, m)
}

// release releases a lock, or may do so. A value that the
// function's caller knows is foreign.
func (w *flow) release(s *state, lock value, m Mode) {
	s.release(lock, m, lock != 0 && w.argumentExpr(lock) != nil)
}
