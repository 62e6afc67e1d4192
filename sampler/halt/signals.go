//go:build linux && (amd64 || arm64)

package halt

import (
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A sigaction is the kernel's struct sigaction.
type sigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// Flags of a sigaction.
const (
	// SA_NOCLDSTOP: no SIGCHLD when a child, or a traced thread,
	// stops or goes on
	noCldStop = 1
	restart   = 0x10000000 // SA_RESTART: go on with an interrupted system call
)

// ignoreStops keeps the kernel from sending this process a
// SIGCHLD whenever a thread of a target stops for a halt. The
// worker asks for these stops and waits for them, so nobody
// needs the signal. But it would wake another thread of the
// sampler in the middle of the halt, on the CPU of some thread
// of the target. The end of a child is still told.
var ignoreStops = sync.OnceFunc(func() {
	var a sigaction
	if setAction(unix.SIGCHLD, nil, &a) == nil {
		a.flags |= noCldStop
		setAction(unix.SIGCHLD, &a, nil)
	}
})

// setAction changes what happens at a signal to a new action,
// unless that is nil, and sets old to what happened before.
func setAction(signal unix.Signal, action, old *sigaction) error {
	_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal),
		uintptr(unsafe.Pointer(action)), uintptr(unsafe.Pointer(old)),
		unsafe.Sizeof(old.mask), 0, 0)
	return errorOf(e)
}
