package goruntime

import "debug/elf"

// An ABI is how Go functions on a processor call one another (ABIInternal). Registers have the numbers that instructions
// have for them.
type ABI struct {
	Closure   uint8    // holds the closure in a call of one
	Arguments [5]uint8 // hold the first whole numbers and pointers that a function gets
	Kept      []uint8  // hold the same value after a call as before

	// What calls of the compiler's own change: of the write barrier, and of duffzero and duffcopy. They keep the others.
	Barrier, Duff []uint8

	ArgumentsDWARF [5]uint8 // Arguments by the numbers that debug information has for them
}

var abis = map[string]*ABI{
	"amd64": {
		Closure: 2, Arguments: [5]uint8{0, 3, 1, 7, 6}, ArgumentsDWARF: [5]uint8{0, 3, 2, 5, 4},
		Kept: []uint8{4, 5, 14}, Barrier: []uint8{11}, Duff: []uint8{6, 7},
	},
	"arm64": {
		Closure: 26, Arguments: [5]uint8{0, 1, 2, 3, 4}, ArgumentsDWARF: [5]uint8{0, 1, 2, 3, 4},
		Kept: []uint8{28, 29, 31}, Barrier: []uint8{25, 27, 30}, Duff: []uint8{20, 21, 26, 27, 30},
	},
}

// ABIOf returns the ABI of a processor (GOARCH), nil for one that is not supported.
func ABIOf(arch string) *ABI { return abis[arch] }

// ArchOf returns the GOARCH of an executable, "" for a processor that is not supported.
func ArchOf(m elf.Machine) string {
	return map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[m]
}
