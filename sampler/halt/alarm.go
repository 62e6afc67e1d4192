//go:build linux && (amd64 || arm64)

package halt

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A timer is the kernel's. It sends a signal.
type timer struct {
	id    int32
	works bool
}

// A sigevent is the kernel's struct sigevent.
type sigevent struct {
	value         uintptr
	signal, sends int32
	tid           int32
	_             [44]byte
}

// newTimer returns a timer. If there can be none, set does nothing.
func newTimer(ev sigevent) (t timer) {
	_, _, e := unix.RawSyscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC,
		uintptr(unsafe.Pointer(&ev)), uintptr(unsafe.Pointer(&t.id)))
	t.works = e == 0
	return t
}

// set makes the timer send its signal after a while, or no more
// if that is 0; then every so often, or not again if that is 0.
func (t *timer) set(after, every time.Duration) {
	if t.works {
		its := [2]unix.Timespec{unix.NsecToTimespec(int64(every)), unix.NsecToTimespec(int64(after))}
		unix.RawSyscall6(unix.SYS_TIMER_SETTIME, uintptr(t.id), 0, uintptr(unsafe.Pointer(&its)),
			0, 0, 0)
	}
}

func (t *timer) close() {
	if t.works {
		unix.RawSyscall(unix.SYS_TIMER_DELETE, uintptr(t.id), 0, 0)
	}
}

// alarmSignal is a signal that nothing else uses. Go's runtime
// handles all signals of this kind, and does nothing if no
// channel was registered for them.
const alarmSignal = unix.Signal(62)

// alarmEvery is how long an interrupted call lasts at most.
// Meanwhile the sampler's own garbage collector can't stop its
// thread.
const alarmEvery = 2 * time.Millisecond

const sendsToThread = 4 // SIGEV_THREAD_ID

// newAlarm returns a timer that interrupts the system calls of
// the calling OS thread. It is for waitid, which has no timeout:
// a thread that polls instead wakes again and again, and each
// time takes a CPU from the program that it waits for.
func newAlarm() timer {
	var action sigaction
	// it would end the sampler, or be ignored
	if setAction(alarmSignal, nil, &action) != nil || action.handler <= 1 {
		return timer{}
	}
	action.flags &^= restart
	if setAction(alarmSignal, &action, nil) != nil {
		return timer{}
	}
	return newTimer(sigevent{signal: int32(alarmSignal), sends: sendsToThread,
		tid: int32(unix.Gettid())})
}
