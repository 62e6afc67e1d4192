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
		PC: u.Rip, SP: u.Rsp, FP: u.Rbp, G: u.R14, TLS: u.Fs_base,
		Syscall: int64(u.Orig_rax), Result: int64(u.Rax),
	}
	return nil
}

// interruptible tells whether a system call gives EINTR to the kernel's own restart, too.
func interruptible(call int64) bool {
	switch call {
	case unix.SYS_EPOLL_WAIT, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_SEMTIMEDOP,
		unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_RECVFROM, unix.SYS_RECVMSG, unix.SYS_ACCEPT, unix.SYS_ACCEPT4:
		return true
	}
	return false
}
