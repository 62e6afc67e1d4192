package delve

import (
	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/linutil"

	"github.com/cpprof/cpprof/sampler/halt"
)

func registersIn(r *halt.Registers) proc.Registers {
	g := &r.General
	return linutil.NewAMD64Registers(&linutil.AMD64PtraceRegs{
		Rip: r.PC, Rax: g[0], Rcx: g[1], Rdx: g[2], Rbx: g[3], Rsp: g[4], Rbp: g[5],
		Rsi: g[6], Rdi: g[7], R8: g[8], R9: g[9], R10: g[10], R11: g[11], R12: g[12],
		R13: g[13], R14: g[14], R15: g[15], Fs_base: r.TLS,
	}, nil)
}
