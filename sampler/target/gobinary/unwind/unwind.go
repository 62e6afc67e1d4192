// Package unwind finds the stack of a goroutine in copied memory.
//
// The tables of stack depths by code address (pcsp) lead from
// frame to frame; DWARF and frame pointers are not needed. If
// the runtime works for a goroutine on another stack (system
// stack, signal stack, C code, vDSO), the walk continues at the
// point where the goroutine left its own stack.
package unwind

// Memory is the copied memory of the target.
type Memory interface {
	// Segment returns the copied bytes that contain addr. data
	// begins at address base and reaches to the end of what was
	// copied contiguously. It is nil if addr was not copied. The
	// unwinder keeps the result for one walk.
	//
	// A walk reads the goroutine's own stack, from the lowest of
	// those stack pointers in its Context that lie in it, up to
	// StackHi. If its thread is on another stack, the walk also
	// reads that one, from the thread's stack pointer up. If
	// that is in a signal handler, the walk also reads the
	// interrupted stack, whose position only the handler's frame
	// has. A Memory may copy that stack on demand while the
	// target is halted.
	Segment(addr uint64) (base uint64, data []byte)
}

// A Context describes the state of a goroutine: from its g and,
// if it has a thread, from the thread's m and registers.
type Context struct {
	// From g: the bounds of its stack, and the position at which
	// it was left.
	StackLo, StackHi          uint64
	SchedPC, SchedSP, SchedLR uint64 // SchedLR matters on arm64 only
	SyscallPC, SyscallSP      uint64

	// OnThread: m.curg is this g, and the registers and the
	// fields below are its thread's. Otherwise the walk begins
	// at SchedSP or SyscallSP, whichever is deeper in the stack.
	// A runnable goroutine is not on a thread, even if it is
	// m.curg: the scheduler is about to resume it at SchedSP.
	OnThread       bool
	Regs           Registers
	VDSOPC, VDSOSP uint64 // from m
}

// Registers are the registers of a halted thread with which a walk begins.
type Registers struct {
	PC, SP uint64
	LR     uint64 // arm64: the link register
}

// A Frame is one physical frame of a stack.
type Frame struct {
	PC   uint64
	SP   uint64 // the stack pointer there; for a return address, its value after the return
	Site Site   // the number of this pair of PC and Exact in this unwinder
	// PC is the instruction that runs next, as in the innermost
	// frame and in interrupted ones; otherwise it is a return
	// address
	Exact bool
	// System: the frame is on a system or signal stack, on which
	// the runtime works for the goroutine.
	System bool
}

// A Site is the number of a place in the code. Numbers are
// assigned from 0 on, without gaps, and never change in an
// unwinder. So a caller can store data about places in a slice,
// with the Site as its index.
type Site int32

// A Result describes how a walk ended and what it met.
type Result struct {
	Torn   bool // the walk did not reach the bottom of the stack
	Cut    bool // the stack is deeper than the limit; its outermost frames are missing
	System bool // frames of a system stack are on top of the goroutine's own
	Signal bool // a signal handler's frames are on top of what it interrupted
	VDSO   bool // the thread is in the vDSO; the frames begin at the call
	C      bool // the thread is in C code; the frames begin at the call
}

// MaxDepth is the number of physical frames after which a walk is cut.
const MaxDepth = 1000

// Unwind appends the frames of a goroutine to dst, innermost
// first. It allocates nothing if dst is large enough and the
// places are known.
func (u *Unwinder) Unwind(dst []Frame, mem Memory, c *Context) ([]Frame, Result) {
	w := walk{u: u, mem: mem, c: c, out: dst, limit: len(dst) + u.maxDepth}
	w.run()
	return w.out, w.res
}
