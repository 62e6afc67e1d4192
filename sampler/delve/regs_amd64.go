package delve

import (
	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/linutil"
)

// savedRegisters returns the registers that the scheduler has saved of a
// goroutine that does not run.
func savedRegisters(pc, sp, bp, _ uint64) proc.Registers {
	return linutil.NewAMD64Registers(&linutil.AMD64PtraceRegs{Rip: pc, Rsp: sp, Rbp: bp}, nil)
}
