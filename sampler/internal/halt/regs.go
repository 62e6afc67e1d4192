//go:build linux && (amd64 || arm64)

package halt

import "golang.org/x/sys/unix"

// Registers are those of a halted thread that matter to a sampler.
type Registers struct {
	PC, SP, FP uint64
	LR         uint64 // arm64: the link register
	G          uint64 // where the register holds Go's g in Go code: r14 on amd64, x28 on arm64
	TLS        uint64 // base of the thread's local storage
	Syscall    int64  // number of the system call in which the thread was halted; negative for none
	Result     int64  // of that system call, as far as it got

	General [31]uint64 // by the numbers that instructions have for them
}

// Results of a system call that an interrupt ends, and that the kernel then begins anew or gives back as EINTR.
const (
	restartSys      = -512 // ERESTARTSYS
	restartNoIntr   = -513 // ERESTARTNOINTR
	restartNoHand   = -514 // ERESTARTNOHAND
	restartRestart  = -516 // ERESTART_RESTARTBLOCK
	interruptedCall = -int64(unix.EINTR)
)

// Asleep tells whether the thread was blocked in the kernel, rather than on a CPU or ready for one: the interrupt
// ended its wait.
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
