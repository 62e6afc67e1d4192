package delve

import (
	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/linutil"
	"golang.org/x/sys/unix"
)

const (
	notePRStatus  = 1     // NT_PRSTATUS
	noteARMSystem = 0x404 // NT_ARM_SYSTEM_CALL
)

// readRegisters reads a stopped thread's registers and reports whether the
// thread sleeps in the kernel. It does if it was in a system call that the
// kernel will restart, or that the interrupt ended (EINTR).
func readRegisters(tid int) (proc.Registers, bool, error) {
	var r unix.PtraceRegsArm64
	if err := unix.PtraceGetRegSetArm64(tid, notePRStatus, &r); err != nil {
		return nil, false, err
	}
	regs := linutil.ARM64PtraceRegs(r)
	call, err := registerSet(tid, noteARMSystem, 4)
	asleep := err == nil && int32(call) >= 0 && restarts(int64(r.Regs[0]))
	return linutil.NewARM64Registers(&regs, false, 0, nil), asleep, nil
}
