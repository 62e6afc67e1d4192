package goruntime

import "debug/elf"

// An ABI describes how Go functions call one another on a
// processor (ABIInternal). Registers are numbered as
// instructions number them.
type ABI struct {
	Closure   uint8    // holds the closure during a call of one
	Arguments [6]uint8 // hold the first integer and pointer arguments
	Kept      []uint8  // have the same value before and after a call

	// What calls of the compiler's own change: of the write
	// barrier, and of duffzero and duffcopy. They keep the
	// others.
	Barrier, Duff []uint8

	DWARF []uint8 // the registers' numbers in debug information; nil if they are the same
}

var abis = map[string]*ABI{
	"amd64": {
		Closure: 2, Arguments: [6]uint8{0, 3, 1, 7, 6, 8},
		DWARF: []uint8{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15},
		Kept:  []uint8{4, 5, 14}, Barrier: []uint8{11}, Duff: []uint8{6, 7},
	},
	"arm64": {
		Closure: 26, Arguments: [6]uint8{0, 1, 2, 3, 4, 5},
		Kept: []uint8{28, 29, 31}, Barrier: []uint8{25, 27, 30}, Duff: []uint8{20, 21, 26, 27, 30},
	},
}

// InDWARF returns the number of a register in debug information.
func (a *ABI) InDWARF(register uint8) uint8 {
	if int(register) < len(a.DWARF) {
		return a.DWARF[register]
	}
	return register
}

// ABIOf returns the ABI of a processor (GOARCH); nil if it is
// not supported.
func ABIOf(arch string) *ABI { return abis[arch] }

// ArchOf returns the GOARCH of an executable; "" if the
// processor is not supported.
func ArchOf(m elf.Machine) string {
	return map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[m]
}
