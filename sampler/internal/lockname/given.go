package lockname

import (
	"debug/dwarf"

	"github.com/cpprof/cpprof/sampler/internal/goruntime"
)

// A Given says how far a lock lies from what the function of a waiter's innermost frame was given when it was called.
type Given struct {
	Register int // of those for whole numbers and pointers in Go's calling convention, counted from 0
	Offset   int64
}

// given gives the variable that was in the register when the function was called, as it was then. The code tells for sure
// that the lock lies in what it points to, though the variable itself may be gone.
func (n *Namer) given(w *Waiter) (all []candidate) {
	const opReg0 = 0x50 // DW_OP_reg0
	abi := goruntime.ABIOf(goruntime.ArchOf(n.elf.Machine))
	if abi == nil || w.Given == nil || len(w.Frames) == 0 || w.Given.Register >= len(abi.ArgumentsDWARF) {
		return nil
	}
	_, f := n.debug.functionAt(w.Frames[0].PC - 1 - n.bias)
	if f == nil {
		return nil
	}
	function, variables := n.debug.variablesAt(f.low)
	for i := range variables {
		v := &variables[i]
		p, isPointer := plain(v.typ).(*dwarf.PtrType)
		if isPointer && len(v.location) == 1 && v.location[0] == opReg0+abi.ArgumentsDWARF[w.Given.Register] {
			o := object{w.Lock - uint64(w.Given.Offset), p.Type, nameOf(v.name, function), 1}
			all = append(all, candidate{object: o})
		}
	}
	return all
}
