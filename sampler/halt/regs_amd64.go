//go:build linux

package halt

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func readRegisters(tid int, r *Registers) error {
	var u unix.PtraceRegs
	if err := regset(tid, unix.NT_PRSTATUS, unsafe.Pointer(&u), unsafe.Sizeof(u)); err != nil {
		return err
	}
	*r = Registers{
		PC: u.Rip, SP: u.Rsp, TLS: u.Fs_base,
		Syscall: int64(u.Orig_rax), Result: int64(u.Rax),
		General: [31]uint64{u.Rax, u.Rcx, u.Rdx, u.Rbx, u.Rsp, u.Rbp, u.Rsi, u.Rdi,
			u.R8, u.R9, u.R10, u.R11, u.R12, u.R13, u.R14, u.R15},
	}
	return nil
}

// interruptible reports whether an interrupt without a signal
// makes a system call return EINTR: the kernel does not restart
// it.
func interruptible(call int64) bool {
	switch call {
	case unix.SYS_EPOLL_WAIT, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_SEMTIMEDOP,
		unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_RECVFROM, unix.SYS_RECVMSG, unix.SYS_ACCEPT,
		unix.SYS_ACCEPT4:
		return true
	}
	return false
}

// resumes reports whether a halted thread will call
// restart_syscall: an interrupt has ended a sleep or a wait with
// a limit of time.
func resumes(_ int, r *Registers) bool { return r.Syscall >= 0 && r.Result == restartRestart }

// endCall lets the interrupted call return EINTR instead.
func endCall(tid int) {
	const result = 10 * 8 // offset of rax in struct user
	eintr := interruptedCall
	ptrace(unix.PTRACE_POKEUSR, tid, result, uintptr(eintr))
}

// vectorSet is the set of vector registers.
const vectorSet = 0x202 // NT_X86_XSTATE
