package syncflow

import (
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/machinecode"
)

// A machine is a processor with the registers that Go's calls use on it.
type machine struct {
	*machinecode.Machine
	closure   machinecode.Reg
	argument  machinecode.Reg // holds a function's first argument
	arguments [6]machinecode.Reg
	killed    uint32 // registers that a call changes
	barrier   uint32 // registers that a call of the write barrier changes
	duff      uint32 // registers that a call of duffzero or duffcopy changes
}

// machineOf returns the machine of a processor (GOARCH), nil for
// one that is not supported.
func machineOf(arch string) *machine {
	processor, abi := machinecode.ForArch(arch), goruntime.ABIOf(arch)
	if processor == nil || abi == nil {
		return nil
	}
	m := &machine{
		Machine: processor, closure: machinecode.Reg(abi.Closure),
		argument: machinecode.Reg(abi.Arguments[0]),
		killed:   ^maskOf(abi.Kept), barrier: maskOf(abi.Barrier), duff: maskOf(abi.Duff),
	}
	for i, r := range abi.Arguments {
		m.arguments[i] = machinecode.Reg(r)
	}
	return m
}

// maskOf makes a set of registers, a bit each.
func maskOf(registers []uint8) (m uint32) {
	for _, r := range registers {
		m |= 1 << r
	}
	return m
}
