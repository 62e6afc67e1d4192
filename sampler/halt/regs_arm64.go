//go:build linux

package halt

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Register sets (elf.h) that the kernel has on arm64 only.
const (
	ntTLS        = 0x401 // NT_ARM_TLS
	ntSystemCall = 0x404 // NT_ARM_SYSTEM_CALL
)

func readRegisters(tid int, r *Registers) error {
	var u unix.PtraceRegs
	if err := regset(tid, unix.NT_PRSTATUS, unsafe.Pointer(&u), unsafe.Sizeof(u)); err != nil {
		return err
	}
	call := int32(-1)
	if err := regset(tid, ntSystemCall, unsafe.Pointer(&call), unsafe.Sizeof(call)); err != nil {
		return err
	}
	var tls uint64
	if err := regset(tid, ntTLS, unsafe.Pointer(&tls), unsafe.Sizeof(tls)); err != nil {
		return err
	}
	*r = Registers{
		PC: u.Pc, SP: u.Sp, LR: u.Regs[30], TLS: tls,
		Syscall: int64(call), Result: int64(u.Regs[0]), General: u.Regs,
	}
	return nil
}

// interruptible reports whether an interrupt without a signal
// makes a system call return EINTR: the kernel does not restart
// it.
func interruptible(call int64) bool {
	switch call {
	case unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_SEMTIMEDOP,
		unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_RECVFROM, unix.SYS_RECVMSG, unix.SYS_ACCEPT,
		unix.SYS_ACCEPT4:
		return true
	}
	return false
}

// resumes reports whether a halted thread will call
// restart_syscall: an interrupt has ended a sleep or a wait with
// a limit of time. The kernel shows such a thread before the
// call.
func resumes(tid int, r *Registers) bool {
	switch r.General[8] {
	case unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP:
	case unix.SYS_FUTEX:
		const wait, waitBitset, command = 0, 9, 127
		if op := r.General[1] & command; op != wait && op != waitBitset || r.General[3] == 0 {
			return false
		}
	default:
		return false
	}
	const supervisorCall = 0xd4000001
	var code uint64
	err := ptrace(unix.PTRACE_PEEKTEXT, tid, uintptr(r.PC), uintptr(unsafe.Pointer(&code)))
	return err == nil && uint32(code) == supervisorCall
}

// endCall lets the interrupted call return EINTR instead.
func endCall(tid int) {
	var u unix.PtraceRegs
	iov := unix.Iovec{Base: (*byte)(unsafe.Pointer(&u)), Len: uint64(unsafe.Sizeof(u))}
	set := uintptr(unsafe.Pointer(&iov))
	if ptrace(unix.PTRACE_GETREGSET, tid, unix.NT_PRSTATUS, set) != nil {
		return
	}
	eintr := interruptedCall
	u.Regs[0], u.Pc = uint64(eintr), u.Pc+4
	ptrace(unix.PTRACE_SETREGSET, tid, unix.NT_PRSTATUS, set)
}

// vectorSet is the set of vector registers.
const vectorSet = 0x2 // NT_PRFPREG
