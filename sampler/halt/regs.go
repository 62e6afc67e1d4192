//go:build linux && (amd64 || arm64)

package halt

import "golang.org/x/sys/unix"

// Registers are the registers of a halted thread that a sampler needs.
type Registers struct {
	PC, SP  uint64
	LR      uint64 // arm64: the link register
	TLS     uint64 // base address of thread-local storage
	Syscall int64  // number of the system call in which the thread was halted; negative if none
	Result  int64  // result of that system call so far

	General [31]uint64 // all general registers, numbered as instructions number them
}

// Results of a system call that was ended by an interrupt. The
// kernel then restarts the call or returns EINTR.
const (
	restartSys      = -512 // ERESTARTSYS
	restartNoIntr   = -513 // ERESTARTNOINTR
	restartNoHand   = -514 // ERESTARTNOHAND
	restartRestart  = -516 // ERESTART_RESTARTBLOCK
	interruptedCall = -int64(unix.EINTR)
)

// Asleep reports whether the thread was blocked in the kernel
// when it was halted, and neither on a CPU nor ready to run. In
// that case the interrupt ended a system call.
func (r *Registers) Asleep() bool {
	if r.Syscall < 0 {
		return false
	}
	switch r.Result {
	case restartSys, restartNoIntr, restartNoHand, restartRestart:
		return true
	case interruptedCall:
		return interruptible(r.Syscall)
	}
	return false
}
