package delve

import (
	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/linutil"
)

// savedRegisters returns the registers that the scheduler has saved of a
// goroutine that does not run.
func savedRegisters(pc, sp, bp, lr uint64) proc.Registers {
	r := linutil.ARM64PtraceRegs{Sp: sp, Pc: pc}
	r.Regs[29], r.Regs[30] = bp, lr
	return linutil.NewARM64Registers(&r, false, 0, nil)
}
