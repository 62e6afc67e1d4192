package delve

import (
	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/linutil"

	"github.com/cpprof/cpprof/sampler/halt"
)

func registersIn(r *halt.Registers) proc.Registers {
	return linutil.NewARM64Registers(
		&linutil.ARM64PtraceRegs{Regs: r.General, Sp: r.SP, Pc: r.PC}, false, 0, nil)
}
