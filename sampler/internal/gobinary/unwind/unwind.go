// Package unwind finds the stack of a goroutine in copied memory.
//
// The tables of stack depths by code address (pcsp) lead from frame to frame; DWARF and frame pointers are not
// needed. Where the runtime works for a goroutine on another stack (system stack, signal stack, C code, vDSO), the
// walk goes on at the place where the goroutine left its own.
package unwind

// Memory is the copied memory of the target.
type Memory interface {
	// Segment returns the copied bytes that contain addr: data begins at base and reaches to the end of what was
	// copied contiguously. Nil data: addr was not copied. The unwinder keeps the answer for one walk.
	//
	// What a walk reads: the goroutine's own stack from the lowest of the stack pointers in its Context that lie in
	// it up to StackHi; when its thread is on another stack, that one from the thread's stack pointer up; and when
	// that is in a signal handler, the interrupted stack, which only the handler's frame names. A Memory may copy
	// that on demand while the target is halted.
	Segment(addr uint64) (base uint64, data []byte)
}

// A Context says where a goroutine stands: copied from its g and, for one that has a thread, from the m and the
// registers.
type Context struct {
	// From g: the bounds of its stack, and where it was left.
	StackLo, StackHi          uint64
	SchedPC, SchedSP, SchedLR uint64 // SchedLR matters on arm64 only
	SyscallPC, SyscallSP      uint64

	// OnThread: m.curg is this g, and the registers and the fields below are those of its thread. Else the walk
	// begins at SchedSP or SyscallSP, whichever is deeper in the stack. A runnable goroutine is not on a thread,
	// even if it is m.curg: the scheduler is about to resume it at SchedSP.
	OnThread       bool
	Regs           Registers
	VDSOPC, VDSOSP uint64 // from m
}

// Registers are those of a halted thread that a walk begins with.
type Registers struct {
	PC, SP uint64
	LR     uint64 // arm64: the link register
}

// A Frame is one physical frame of a stack.
type Frame struct {
	PC    uint64
	SP    uint64 // the stack pointer there: where the call has returned, for a return address
	Site  Site   // names the pair of PC and Exact in this unwinder
	Exact bool   // PC is the instruction that runs next: in the innermost frame and interrupted ones; else a return address
	// System: the frame is on a system or signal stack, where the runtime works for the goroutine.
	System bool
}

// A Site is a dense number, from 0 on, of a place in the code, stable while the unwinder lives. What a caller keeps
// for each place can be a slice with the Site as its index.
type Site int32

// A Result tells how a walk ended and what it met.
type Result struct {
	Torn   bool // the walk did not reach the bottom of the stack
	Cut    bool // the stack is deeper than the limit; what is missing is at the root's end
	System bool // frames of a system stack are on top of the goroutine's
	Signal bool // a signal handler's frames are on top of what it interrupted
	VDSO   bool // the thread is in the vDSO; the frames begin at the call
	C      bool // the thread is in C code; the frames begin at the call
}

// MaxDepth is the number of physical frames after which a walk is cut.
const MaxDepth = 1000

// Unwind appends the frames of a goroutine to dst, innermost first. Nothing is allocated once dst is large enough
// and the places are known.
func (u *Unwinder) Unwind(dst []Frame, mem Memory, c *Context) ([]Frame, Result) {
	w := walk{u: u, mem: mem, c: c, out: dst, limit: len(dst) + u.maxDepth}
	w.run()
	return w.out, w.res
}
