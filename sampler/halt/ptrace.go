//go:build linux && (amd64 || arm64)

package halt

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A siginfo is the kernel's siginfo_t, as waitid fills it.
type siginfo struct {
	signo, errno, code, _ int32
	pid, uid, status      int32
	_                     [100]byte
}

// Codes of a siginfo (CLD_EXITED and so on). With a code up to
// codeDumped, the thread has ended.
const (
	codeDumped  = 3
	codeTrapped = 4
)

func (in *siginfo) ended() bool { return in.signo != 0 && in.code <= codeDumped }

// stopped reports whether the thread is in a ptrace stop, and
// returns the signal that the stop holds back; 0 for none.
func (in *siginfo) stopped() (signal int, ok bool) {
	if in.signo == 0 || in.code <= codeDumped {
		return 0, false
	}
	// A stop with an event (status>>8) follows an interrupt, or
	// the whole process has stopped. Neither holds back a
	// signal: a stopped process stays stopped after the detach.
	if in.code == codeTrapped && in.status>>8 == 0 {
		return int(in.status), true
	}
	return 0, true
}

// waitid waits for one thread, a child or not. All system calls
// that are made while threads are halted are raw, since giving
// up and regaining a processor of Go's scheduler costs more than
// the calls.
func waitid(tid int, in *siginfo, options int) error {
	_, _, e := unix.RawSyscall6(unix.SYS_WAITID, unix.P_PID, uintptr(tid),
		uintptr(unsafe.Pointer(in)),
		uintptr(options|unix.WALL), 0, 0)
	return errorOf(e)
}

// errorOf returns the error of a raw system call.
func errorOf(e unix.Errno) error {
	if e != 0 {
		return e
	}
	return nil
}

// seize makes the calling OS thread the tracer of a thread. If
// the process is executing another program, this call blocks
// until that is done, so it informs Go's scheduler.
func seize(tid int) error {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(tid), 0, 0, 0, 0)
	return errorOf(e)
}

func ptrace(request, tid int, addr, data uintptr) error {
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), addr, data, 0, 0)
	return errorOf(e)
}

func interrupt(tid int) error { return ptrace(unix.PTRACE_INTERRUPT, tid, 0, 0) }

func detach(tid, signal int) error { return ptrace(unix.PTRACE_DETACH, tid, 0, uintptr(signal)) }

// regset reads a set of registers of a halted thread into v, a
// value of n bytes.
func regset(tid int, set uintptr, v unsafe.Pointer, n uintptr) error {
	_, err := regsetLen(tid, set, v, n)
	return err
}

// regsetLen does the same, and returns how many bytes the set has.
func regsetLen(tid int, set uintptr, v unsafe.Pointer, n uintptr) (uint64, error) {
	iov := unix.Iovec{Base: (*byte)(v), Len: uint64(n)}
	err := ptrace(unix.PTRACE_GETREGSET, tid, set, uintptr(unsafe.Pointer(&iov)))
	return iov.Len, err
}

// pause sleeps without informing Go's scheduler.
func pause(microseconds int64) {
	ts := unix.NsecToTimespec(microseconds * 1000)
	unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// SleepUntil returns at a given time, or at once if that has
// passed. It does not inform Go's scheduler: it is for a few
// milliseconds.
func SleepUntil(at time.Time) {
	for left := time.Until(at); left > 0; left = time.Until(at) {
		pause(left.Microseconds() + 1) // a signal may end the sleep early
	}
}

// ThreadTime returns the CPU time that the calling OS thread has used.
func ThreadTime() time.Duration { return clockTime(unix.CLOCK_THREAD_CPUTIME_ID) }

// ThreadClock returns a function that returns the CPU time of
// the OS thread that has called ThreadClock; 0 if that thread
// has ended.
func ThreadClock() func() time.Duration {
	const perThread, scheduled = 4, 2 // bits of the kernel's numbers of CPU clocks
	id := ^unix.Gettid()<<3 | perThread | scheduled
	return func() time.Duration { return clockTime(id) }
}

func clockTime(id int) time.Duration {
	var ts unix.Timespec
	unix.RawSyscall(unix.SYS_CLOCK_GETTIME, uintptr(id), uintptr(unsafe.Pointer(&ts)), 0)
	return time.Duration(ts.Nano())
}
