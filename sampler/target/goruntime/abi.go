package goruntime

import (
	"debug/elf"

	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// An ABI describes how Go functions call one another on a
// processor (ABIInternal).
type ABI struct {
	Closure   machinecode.Reg    // holds the closure during a call of one
	Arguments [6]machinecode.Reg // hold the first integer and pointer arguments
	Kept      []machinecode.Reg  // have the same value before and after a call

	// What calls of the compiler's own change: of the write
	// barrier, and of duffzero and duffcopy. They keep the
	// others.
	Barrier, Duff []machinecode.Reg

	DWARF []uint8 // the registers' numbers in debug information; nil if they are the same
}

var abis = map[string]*ABI{
	"amd64": {
		Closure: 2, Arguments: [6]machinecode.Reg{0, 3, 1, 7, 6, 8},
		DWARF: []uint8{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15},
		Kept:  []machinecode.Reg{4, 5, 14}, Barrier: []machinecode.Reg{11},
		Duff: []machinecode.Reg{6, 7},
	},
	"arm64": {
		Closure: 26, Arguments: [6]machinecode.Reg{0, 1, 2, 3, 4, 5},
		Kept: []machinecode.Reg{28, 29, 31}, Barrier: []machinecode.Reg{25, 27, 30},
		Duff: []machinecode.Reg{20, 21, 26, 27, 30},
	},
}

// InDWARF returns the number of a register in debug information.
func (a *ABI) InDWARF(register machinecode.Reg) uint8 {
	if int(register) < len(a.DWARF) {
		return a.DWARF[register]
	}
	return uint8(register)
}

// ABIOf returns the ABI of a processor (GOARCH); nil if it is
// not supported.
func ABIOf(arch string) *ABI { return abis[arch] }

// ArchOf returns the GOARCH of an executable; "" if the
// processor is not supported.
func ArchOf(m elf.Machine) string {
	return map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[m]
}
