package delve

import (
	"runtime"

	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/linutil"
)

// savedRegisters returns the registers that the scheduler has saved of a
// goroutine that does not run.
func savedRegisters(pc, sp, bp, lr uint64) proc.Registers {
	g := [31]uint64{30: lr}
	if runtime.GOARCH == "arm64" {
		g[29] = bp
	} else {
		g[5] = bp
	}
	return allRegisters(pc, sp, 0, &g)
}

// allRegisters returns registers, with the general ones by
// number. On processors for which it returns nil, no target is
// ever halted.
func allRegisters(pc, sp, tls uint64, g *[31]uint64) proc.Registers {
	switch runtime.GOARCH {
	case "amd64":
		return linutil.NewAMD64Registers(&linutil.AMD64PtraceRegs{
			Rip: pc, Rax: g[0], Rcx: g[1], Rdx: g[2], Rbx: g[3], Rsp: sp, Rbp: g[5],
			Rsi: g[6], Rdi: g[7], R8: g[8], R9: g[9], R10: g[10], R11: g[11], R12: g[12],
			R13: g[13], R14: g[14], R15: g[15], Fs_base: tls,
		}, nil)
	case "arm64":
		return linutil.NewARM64Registers(
			&linutil.ARM64PtraceRegs{Regs: *g, Sp: sp, Pc: pc}, false, 0, nil)
	}
	return nil
}
