package unwind

import (
	"encoding/binary"

	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// A walk is the state of unwinding one stack.
type walk struct {
	u     *Unwinder
	mem   Memory
	c     *Context
	out   []Frame
	limit int // of len(out)
	res   Result

	pc, sp uint64
	lr     uint64 // arm64: the return address if it is still in the register; 0 if it is not
	exact  bool
	on     bool // on the goroutine's own stack, and not on the system's or a signal's

	skipped  int  // number of frames left out
	returned bool // the return of a signal handler was met; the walk continues at it only once

	// The segment of memory that was last read.
	base uint64
	data []byte
}

// owns reports whether a stack pointer is in the goroutine's own stack.
func (w *walk) owns(sp uint64) bool { return sp > w.c.StackLo && sp <= w.c.StackHi }

// run walks until the bottom of the stack, a frame whose caller
// can't be found, or the limit.
func (w *walk) run() {
	if !w.start() {
		w.res.Torn = true
		return
	}
	for {
		if len(w.out) >= w.limit {
			w.res.Cut = true
			return
		}
		if !w.u.inText(w.pc) {
			if w.on || !w.leaveForeign() {
				w.res.Torn = true
				return
			}
			continue
		}
		id := w.u.at(w.pc, w.exact)
		s := &w.u.sites[id]
		if !s.known {
			w.res.Torn = true
			return
		}
		if s.kind != goruntime.FrameSystemstackSwitch {
			w.out = append(w.out,
				Frame{PC: w.pc, SP: w.sp, Site: id, Exact: w.exact, System: !w.on})
			w.res.System = w.res.System || !w.on
		} else if w.skipped++; w.skipped > w.u.maxDepth {
			w.res.Torn = true
			return
		}
		if w.step(s) {
			return
		}
	}
}

// start finds the position at which the walk begins; false if
// there is none.
func (w *walk) start() bool {
	c := w.c
	if !c.OnThread {
		return w.startParked()
	}
	w.jump(c.Regs.PC, c.Regs.SP, c.Regs.LR)
	if !w.u.inText(w.pc) {
		return w.leaveForeign()
	}
	switch w.u.sites[w.u.at(w.pc, true)].kind {
	case goruntime.FrameVDSO:
		// After the position of the call is stored, the stack
		// pointer may have any value.
		if c.VDSOSP != 0 {
			return w.leaveForeign()
		}
	case goruntime.FrameResumes:
		// Not all of the goroutine's registers are set yet:
		// until they are, the stack pointer is in g.sched.
		sp := c.SchedSP
		if sp == 0 {
			sp = c.Regs.SP
		}
		return w.goOn(c.SchedPC, sp, c.SchedLR)
	}
	return true
}

// startParked begins with a goroutine that has no thread, or
// whose thread is in a system call or in C. If the goroutine
// called C, or came back and found no processor, the position at
// which it was left is below the call that was stored when the
// call began.
func (w *walk) startParked() bool {
	c := w.c
	if c.SyscallSP != 0 {
		if _, copied := w.word(c.SchedSP); !copied || !w.owns(c.SchedSP) ||
			c.SchedSP >= c.SyscallSP {
			return w.goOn(c.SyscallPC, c.SyscallSP, 0)
		}
	}
	return w.goOn(c.SchedPC, c.SchedSP, c.SchedLR)
}

// jump continues at an instruction, with the registers that the instruction
// sees.
func (w *walk) jump(pc, sp, lr uint64) {
	w.pc, w.sp, w.lr, w.exact, w.on = pc, sp, lr, true, w.owns(sp)
}

// goOn continues on the goroutine's own stack, at a return
// address, with the stack pointer after the return.
func (w *walk) goOn(pc, sp, lr uint64) bool {
	w.pc, w.sp, w.lr, w.exact, w.on = pc, sp, lr, false, true
	return pc != 0 && sp != 0
}

// leaveForeign continues at the point where Go code called other
// code: the vDSO, or C. It does so once for each of the two.
// Otherwise the code may be the end of a signal handler, which
// is in the C library in programs with cgo.
func (w *walk) leaveForeign() bool {
	c := w.c
	if c.VDSOSP != 0 && !w.res.VDSO {
		w.res.VDSO = true
		ok := w.goOn(c.VDSOPC, c.VDSOSP, 0)
		w.on = w.owns(w.sp) // the system stack reads clocks too
		return ok
	}
	pc, sp := w.pc, w.sp
	return w.leaveC() || pc == w.pc && w.leaveHandler(sp)
}

// leaveHandler continues at the interrupted instruction if a
// signal handler has just returned and its context is on top of
// the stack.
func (w *walk) leaveHandler(sp uint64) bool {
	if w.returned {
		return false
	}
	w.returned = true
	if w.u.arm64 {
		sp += siginfoSize
	}
	if !w.interrupted(sp) || !w.u.inText(w.pc) {
		return false
	}
	w.res.C = false
	return true
}

// leaveC continues at the goroutine's call of C, the first time
// that it is met. A call of C switches stacks, and stores the
// position of the switch in g.sched. If the runtime also treats
// the call as a system call, it has stored a second position,
// higher in the stack; it does not do so for its own calls. The
// position of the switch is more exact, so it is preferred if
// the stack was copied from there on.
func (w *walk) leaveC() bool {
	if w.res.C {
		return false
	}
	w.res.C = true
	c := w.c
	if w.switched() && (c.SyscallSP == 0 || c.SchedSP <= c.SyscallSP) {
		if _, copied := w.word(c.SchedSP); copied {
			return w.goOn(c.SchedPC, c.SchedSP, 0)
		}
	}
	return c.SyscallSP != 0 && w.goOn(c.SyscallPC, c.SyscallSP, 0)
}

// switched reports whether g.sched shows that the goroutine has
// switched to the system stack, and is not left over from an
// earlier stop.
func (w *walk) switched() bool {
	if !w.owns(w.c.SchedSP) || !w.u.inText(w.c.SchedPC) {
		return false
	}
	return w.u.sites[w.u.at(w.c.SchedPC, false)].kind == goruntime.FrameSystemstackSwitch
}

// step goes from the frame at s to its caller, and reports
// whether the walk ends there.
func (w *walk) step(s *site) (done bool) {
	ok := true
	switch {
	case s.kind == goruntime.FrameSignal:
		ok = s.delta >= 0 && w.interrupted(w.contextBySignal(s))
	case s.kind == goruntime.FrameSigreturn && w.exact:
		ok = w.leaveHandler(w.sp)
	case s.kind == goruntime.FrameSystemstack && !w.on:
		ok = w.leaveSystemStack(s)
	case s.kind == goruntime.FrameLeaves && (!w.on || !w.exact):
		// What they call runs on the system stack, even when
		// g.stack is just being exchanged.
		ok = w.goOn(w.c.SchedPC, w.c.SchedSP, w.c.SchedLR)
	case s.kind == goruntime.FrameToC && !w.on:
		// The frame is left out, as it is when the thread is in C itself.
		w.out = w.out[:len(w.out)-1]
		ok = w.leaveC()
	case s.flags&pclntab.TopFrame != 0:
		// The bottom of a system stack is not the goroutine's.
		w.res.Torn = w.res.Torn || !w.on
		return true
	default:
		ok = w.toCaller(s)
	}
	w.res.Torn = w.res.Torn || !ok
	return !ok
}

// leaveSystemStack goes from systemstack, on the system stack,
// to its caller on the goroutine's stack. If systemstack is
// called on the system stack, it jumps to its argument. For the
// few instructions until it does, the callers on that stack are
// left out.
func (w *walk) leaveSystemStack(s *site) bool {
	if !w.switched() {
		return false
	}
	w.sp, w.lr, w.on = w.c.SchedSP, 0, true
	return w.toCaller(s)
}

// toCaller goes to the caller, by the table of stack depths.
func (w *walk) toCaller(s *site) bool {
	if s.delta < 0 {
		return false
	}
	frame := w.sp + uint64(s.delta)
	var ret uint64
	ok := true
	switch {
	case !w.u.arm64:
		ret, ok = w.word(frame)
		if ok && s.flags&pclntab.SPWrite != 0 && w.exact && !w.u.inText(ret) {
			ret, frame, ok = w.pastAlignment(frame)
		}
		frame += 8
	case w.lr != 0 && s.delta == 0:
		ret = w.lr
	default:
		ret, ok = w.word(w.sp)
	}
	if !ok || ret == 0 || w.u.arm64 && ret == w.pc && frame == w.sp {
		return false
	}
	w.pc, w.sp, w.lr, w.exact = ret, frame, 0, s.kind == goruntime.FrameInjected
	if w.u.arm64 && w.exact {
		return w.pastInjection()
	}
	return true
}

// pastAlignment finds the return address in a function that has
// aligned the stack pointer (the callers of the vDSO: to 16
// bytes) and restored it from a register. The table still counts
// the bytes of the alignment then.
func (w *walk) pastAlignment(frame uint64) (ret, at uint64, ok bool) {
	const room = 16
	ret, ok = w.word(frame - room)
	return ret, frame - room, ok && w.u.inText(ret)
}

// pastInjection reads the link register that an injected call on
// arm64 has saved on top of the interrupted frame.
func (w *walk) pastInjection() bool {
	const saved = 16
	lr, ok := w.word(w.sp)
	if !ok {
		return false
	}
	w.sp += saved
	if w.u.inText(w.pc) && w.u.sites[w.u.at(w.pc, true)].delta == 0 {
		w.lr = lr
	}
	return true
}

// contextBySignal returns the address of the context that the
// kernel has saved above the frame of a signal handler.
func (w *walk) contextBySignal(s *site) uint64 {
	frame := w.sp + uint64(s.delta)
	if w.u.arm64 {
		return frame + siginfoSize
	}
	const returnAddress = 8
	return frame + returnAddress
}

// siginfoSize is the number of bytes below the context on arm64.
const siginfoSize = 128

// Offsets in the context (struct ucontext) that the kernel saves
// for a signal.
const (
	contextSPAMD64, contextPCAMD64                 = 160, 168
	contextLRARM64, contextSPARM64, contextPCARM64 = 424, 432, 440
)

// interrupted continues at the instruction that a signal interrupted.
func (w *walk) interrupted(context uint64) bool {
	w.res.Signal = true
	spAt, pcAt := uint64(contextSPAMD64), uint64(contextPCAMD64)
	var lr uint64
	if w.u.arm64 {
		spAt, pcAt = contextSPARM64, contextPCARM64
		lr, _ = w.word(context + contextLRARM64)
	}
	sp, okSP := w.word(context + spAt)
	pc, okPC := w.word(context + pcAt)
	if !okSP || !okPC {
		return false
	}
	w.jump(pc, sp, lr)
	if !w.u.inText(pc) ||
		w.u.sites[w.u.at(pc, true)].kind == goruntime.FrameVDSO && w.c.VDSOSP != 0 {
		return w.leaveForeign()
	}
	return true
}

// word reads a word of copied memory.
func (w *walk) word(addr uint64) (uint64, bool) {
	off := addr - w.base
	if addr < w.base || uint64(len(w.data)) < 8 || off > uint64(len(w.data))-8 {
		w.base, w.data = w.mem.Segment(addr)
		off = addr - w.base
		if addr < w.base || uint64(len(w.data)) < 8 || off > uint64(len(w.data))-8 {
			return 0, false
		}
	}
	return binary.LittleEndian.Uint64(w.data[off:]), true
}
