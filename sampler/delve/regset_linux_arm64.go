package delve

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// registerSet reads one small register set of a stopped thread.
func registerSet(tid, note, size int) (uint64, error) {
	var buf [8]byte
	v := unix.Iovec{Base: &buf[0]}
	v.SetLen(size)
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETREGSET, uintptr(tid),
		uintptr(note), uintptr(unsafe.Pointer(&v)), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return binary.LittleEndian.Uint64(buf[:]), nil
}
