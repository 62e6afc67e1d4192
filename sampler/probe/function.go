package probe

import (
	"errors"

	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A Function is one that can be probed.
type Function struct {
	Name string
	File string
	Line int32

	// Entry is the address of the first instruction behind the
	// prologue's check of the stack. At it, and at each of the
	// Returns, the stack pointer has the same distance from the
	// end of the stack. Returns are empty if the function never
	// returns.
	Entry   uint64
	Returns []uint64

	// Check is the first branch of the check of the stack, and
	// Grows the call that grows the stack, after which the
	// function starts again; 0 if there is no check. Go's
	// scheduler never interrupts a goroutine at either of them.
	// At another instruction, a breakpoint of the processor is
	// hit twice if it does: before the interruption and after
	// it.
	Check, Grows uint64

	Why string // what an instrument is to find out

	Arguments []Argument // those whose registers are known
	NoteArgs  string     // why arguments are not known; "" if they are

	hidden bool // it was not asked for
}

// prologueLength is the number of instructions among which the prologue's
// check of the stack is.
const prologueLength = 10

// Function finds the places of a function's code where
// instruments can be. The error is a *RefusedError that says why
// there are none, and what can be probed instead.
func (p *Program) Function(name string) (Function, error) {
	fn, ok := p.bin.Table.Find(name)[name]
	if !ok {
		return Function{}, p.unknown(name)
	}
	f, refusal := p.places(fn)
	switch {
	case errors.Is(refusal, errAssembly), errors.Is(refusal, errNoFrame):
		return f, p.refused(name, refusal.Error(), p.callers(fn))
	case refusal != nil:
		return f, p.refused(name, "its code can't be read: "+refusal.Error(), nil)
	}
	return f, nil
}

var (
	errAssembly = errors.New("it is written in assembly, or is where a stack begins")
	errNoFrame  = errors.New(
		"it has no frame of its own (it calls nothing, and keeps all it needs in registers)")
)

// places finds the places in a function.
func (p *Program) places(fn pclntab.Func) (f Function, err error) {
	if fn.Flags&(pclntab.Asm|pclntab.SPWrite|pclntab.TopFrame) != 0 {
		return f, errAssembly
	}
	code, err := p.code(fn)
	if err != nil {
		return f, err
	}
	check, at := p.behindCheck(code)
	if !p.opensFrame(code[at]) {
		return f, errNoFrame
	}
	f = Function{Name: fn.Name(), Line: fn.StartLine(), Entry: code[at].PC}
	f.File, _ = fn.Line(fn.Entry)
	if at > 0 {
		f.Check, f.Grows = code[check].PC, p.growing(code, code[check].Target)
	}
	f.Returns = p.returns(fn, code)
	return f, nil
}

// behindCheck finds the check whether the stack must grow. It
// returns the index of its first branch, and the index of the
// first instruction behind it; 0 if there is none. The check is
// a branch, or two if the frame is large. It leads to code that
// calls the runtime and then begins again.
func (p *Program) behindCheck(code []machinecode.Instr) (first, behind int) {
	for i := range code[:min(len(code)-1, prologueLength)] {
		in := &code[i]
		if in.Op == machinecode.OpCall {
			break
		}
		if in.Op == machinecode.OpBranch && p.growing(code, in.Target) != 0 {
			if behind == 0 {
				first = i
			}
			behind = i + 1
		}
	}
	return first, behind
}

// growing returns the address of the call that grows the stack,
// if the code at an address only saves registers and then makes
// such a call; otherwise 0.
func (p *Program) growing(code []machinecode.Instr, at uint64) uint64 {
	for i := range code {
		if code[i].PC < at {
			continue
		}
		switch code[i].Op {
		case machinecode.OpCall:
			if p.growers[code[i].Target] {
				return code[i].PC
			}
			return 0
		case machinecode.OpReturn, machinecode.OpJump, machinecode.OpJumpTo, machinecode.OpBranch,
			machinecode.OpTrap:
			return 0
		}
	}
	return 0
}

// opensFrame reports whether an instruction is the one that
// makes room for a frame. It is executed once in a call.
func (p *Program) opensFrame(in machinecode.Instr) bool {
	sp := p.machine.SP
	switch {
	case in.Update == sp && in.Pre < 0: // PUSH BP; STR LR, [SP, -n]!
		return true
	case in.Op == machinecode.OpMove && in.Operand.Base == sp && !in.Operand.InMemory &&
		in.Operand.Offset < 0: // SUB SP, n
		return true
	}
	return false
}

// returns lists the instructions at which a call ends: returns,
// and jumps to other functions.
func (p *Program) returns(fn pclntab.Func, code []machinecode.Instr) (list []uint64) {
	for i := range code {
		in := &code[i]
		leaves := in.Op == machinecode.OpReturn || in.Op == machinecode.OpJumpTo ||
			in.Op == machinecode.OpJump && (in.Target < fn.Entry || in.Target >= fn.End)
		if depth, ok := fn.SPDelta(in.PC); leaves && ok && depth == 0 {
			list = append(list, in.PC)
		}
	}
	return list
}

// callers returns some functions that call a function directly
// and can be probed.
func (p *Program) callers(fn pclntab.Func) (list []string) {
	for other := range p.bin.Table.All() {
		if len(list) == maxInstead {
			break
		}
		if other.End-other.Entry > maxCode ||
			goruntime.IsRuntime(other.Name()) && !goruntime.IsRuntime(fn.Name()) {
			continue
		}
		b := make([]byte, other.End-other.Entry)
		if p.read(other.Entry-p.bin.Bias, b) != nil {
			continue
		}
		calls := false
		p.machine.Scan(b, other.Entry, [2]int64{}, func(target uint64) {
			calls = calls || target == fn.Entry
		})
		if calls && p.canProbe(other) {
			list = append(list, other.Name())
		}
	}
	return list
}

// canProbe reports whether Function finds places in a function.
func (p *Program) canProbe(fn pclntab.Func) bool {
	_, err := p.places(fn)
	return err == nil
}
