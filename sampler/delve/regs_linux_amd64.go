package delve

import (
	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/linutil"
	"golang.org/x/sys/unix"
)

// readRegisters reads a stopped thread's registers and reports whether the
// thread sleeps in the kernel. It does if it was in a system call that the
// kernel will restart, or that the interrupt ended (EINTR).
func readRegisters(tid int) (proc.Registers, bool, error) {
	var r unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &r); err != nil {
		return nil, false, err
	}
	regs := linutil.AMD64PtraceRegs(r)
	return linutil.NewAMD64Registers(&regs, nil), int64(r.Orig_rax) >= 0 && restarts(int64(r.Rax)),
		nil
}
