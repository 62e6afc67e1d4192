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
	return &machine{
		Machine: processor, closure: abi.Closure,
		argument: abi.Arguments[0], arguments: abi.Arguments,
		killed: ^machinecode.Mask(abi.Kept...), barrier: machinecode.Mask(abi.Barrier...),
		duff: machinecode.Mask(abi.Duff...),
	}
}
