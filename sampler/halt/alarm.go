//go:build linux && (amd64 || arm64)

package halt

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An alarm interrupts the system calls of one OS thread that last long. It is
// for waitid, which has no timeout: a thread that polls instead wakes again
// and again, and each time takes a CPU from the program that it waits for.
type alarm struct {
	timer int32
	works bool
}

// alarmSignal is a signal that nothing else uses. Go's runtime handles all
// signals of this kind, and does nothing if no channel was registered for
// them.
const alarmSignal = unix.Signal(62)

// alarmEvery is how long an interrupted call lasts at most. Meanwhile the
// sampler's own garbage collector can't stop its thread.
const alarmEvery = 2 * time.Millisecond

// A sigevent is the kernel's struct sigevent.
type sigevent struct {
	value         uintptr
	signal, sends int32
	tid           int32
	_             [44]byte
}

const sendsToThread = 4 // SIGEV_THREAD_ID

// newAlarm returns an alarm for the calling OS thread. If there can be none,
// interrupts does nothing.
func newAlarm() *alarm {
	a := &alarm{}
	var action sigaction
	// it would end the sampler, or be ignored
	if setAction(alarmSignal, nil, &action) != nil || action.handler <= 1 {
		return a
	}
	action.flags &^= restart
	if setAction(alarmSignal, &action, nil) != nil {
		return a
	}
	ev := sigevent{signal: int32(alarmSignal), sends: sendsToThread, tid: int32(unix.Gettid())}
	_, _, e := unix.RawSyscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC,
		uintptr(unsafe.Pointer(&ev)), uintptr(unsafe.Pointer(&a.timer)))
	a.works = e == 0
	return a
}

// interrupts makes the alarm go off every so often, or no more if that is 0.
func (a *alarm) interrupts(every time.Duration) {
	if !a.works {
		return
	}
	at := unix.NsecToTimespec(int64(every))
	its := [2]unix.Timespec{at, at}
	unix.RawSyscall6(unix.SYS_TIMER_SETTIME, uintptr(a.timer), 0, uintptr(unsafe.Pointer(&its)),
		0, 0, 0)
}

func (a *alarm) close() {
	if a.works {
		unix.RawSyscall(unix.SYS_TIMER_DELETE, uintptr(a.timer), 0, 0)
	}
}
