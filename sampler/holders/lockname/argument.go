package lockname

import (
	"debug/dwarf"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

// A LockArgument describes where a lock lies: at an offset from what an argument of the waiter's innermost function
// points to.
type LockArgument struct {
	Register int // the argument's register, among those for integers and pointers in Go's calling convention, counted from 0
	Offset   int64
}

// byArgument returns the object that the argument pointed to through which the waiter's function reached the lock. The
// code proves that the lock lies in that object, although the argument itself may no longer be there.
func (n *Namer) byArgument(w *Waiter) (all []candidate) {
	const opReg0 = 0x50 // DW_OP_reg0
	abi := goruntime.ABIOf(goruntime.ArchOf(n.elf.Machine))
	if abi == nil || w.Argument == nil || len(w.Frames) == 0 || w.Argument.Register >= len(abi.ArgumentsDWARF) {
		return nil
	}
	_, f := n.debug.functionAt(w.Frames[0].PC - 1 - n.bias)
	if f == nil {
		return nil
	}
	function, variables := n.debug.variablesAt(f.low)
	for i := range variables {
		v := &variables[i]
		p, isPointer := layout.Underlying(v.typ).(*dwarf.PtrType)
		if isPointer && len(v.location) == 1 && v.location[0] == opReg0+abi.ArgumentsDWARF[w.Argument.Register] {
			o := object{w.Lock - uint64(w.Argument.Offset), p.Type, nameOf(v.name, function), 1}
			all = append(all, candidate{object: o})
		}
	}
	return all
}
