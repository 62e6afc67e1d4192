package delve

import (
	"errors"

	"github.com/go-delve/delve/pkg/proc"
)

var errNotHere = errors.New("the target is read-only")

// A process presents a copied target to Delve: its binary, its
// memory, no threads. Nothing can be run or changed through it,
// so Delve's own breakpoints are never planted.
type process struct {
	proc.ProcessInternal // nil: its methods are never called

	bi    *proc.BinaryInfo
	mem   *memory
	bps   proc.BreakpointMap
	entry uint64
}

func (p *process) BinInfo() *proc.BinaryInfo              { return p.bi }
func (p *process) EntryPoint() (uint64, error)            { return p.entry, nil }
func (p *process) FindThread(int) (proc.Thread, bool)     { return nil, false }
func (p *process) ThreadList() []proc.Thread              { return nil }
func (p *process) Breakpoints() *proc.BreakpointMap       { return &p.bps }
func (p *process) Memory() proc.MemoryReadWriter          { return p.mem }
func (p *process) Valid() (bool, error)                   { return true, nil }
func (p *process) WriteBreakpoint(*proc.Breakpoint) error { return errNotHere }

// A view is a thread as Delve's unwinder needs it: registers,
// and the goroutine that they belong to. One is made for every
// stack that is unwound, even for parked goroutines.
type view struct {
	proc.Thread // nil: what continues or changes a thread is never called

	p      *process
	id     int
	regs   proc.Registers
	common proc.CommonThread
}

func (v *view) Breakpoint() *proc.BreakpointState    { return &proc.BreakpointState{} }
func (v *view) ThreadID() int                        { return v.id }
func (v *view) Registers() (proc.Registers, error)   { return v.regs, nil }
func (v *view) BinInfo() *proc.BinaryInfo            { return v.p.bi }
func (v *view) ProcessMemory() proc.MemoryReadWriter { return v.p.mem }
func (v *view) Common() *proc.CommonThread           { return &v.common }

// viewRegisters are registers together with the address of their goroutine.
type viewRegisters struct {
	proc.Registers
	g uint64
}

func (r viewRegisters) GAddr() (uint64, bool) { return r.g, true }

func (r viewRegisters) Copy() (proc.Registers, error) {
	c, err := r.Registers.Copy()
	return viewRegisters{c, r.g}, err
}

// slot is an address that is mapped in no target. Where Delve
// expects a pointer to a goroutine's address, it gets slot, and
// reads the address there.
const slot = 0xffff_f000_0000_0000

// withGoroutine returns registers from which Delve finds the goroutine.
func (p *process) withGoroutine(r viewRegisters) viewRegisters {
	if !p.bi.Arch.DerefTLS() {
		return r
	}
	p.mem.setSlot(r.g)
	r.g = slot
	return r
}
