//go:build linux && (amd64 || arm64)

package halt

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A priority is the scheduling priority of the worker's OS
// thread. It is raised while the worker sleeps until a halt, and
// during the halt:
//
//   - A thread that has slept at its usual priority may wait for a CPU until the target gives one up. The halts would then
//     meet the target at moments at which it does nothing.
//   - On a busy machine the longest halts are those in which the sampler waits for a CPU.
type priority struct {
	name   string // what helps the worker to wake on time; "" if nothing does
	usual  unix.SchedAttr
	raised unix.SchedAttr // without a size if it can't be raised
	up     bool
}

// slice is the shortest time slice that Linux accepts, in
// nanoseconds. It is no privilege: a thread with short slices
// gets no more time, but waits less for each slice (Linux 6.12
// and later).
const slice = 100_000

// ShortSlices is the name of what helps a thread that may not
// raise its priority.
const ShortSlices = "short time slices"

// lowestNice is the nice value that is tried first.
const lowestNice = -15

// newPriority finds out how far the calling thread may raise its
// priority. It tries the real-time class first (SCHED_FIFO),
// which runs before all ordinary threads, and then low nice
// values. In any case the thread has short time slices at its
// usual priority.
func newPriority() *priority {
	p := &priority{}
	usual, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return p
	}
	p.usual = *usual
	if p.shortenSlices() {
		p.name = ShortSlices
	}
	if p.try("real-time priority",
		unix.SchedAttr{Size: usual.Size, Policy: unix.SCHED_FIFO, Priority: 1}) {
		return p
	}
	for nice := int32(lowestNice); usual.Policy == unix.SCHED_NORMAL &&
		nice < usual.Nice; nice += 5 {
		a := p.usual
		a.Nice = nice
		if p.try(fmt.Sprintf("nice %d", nice), a) {
			break
		}
	}
	return p
}

// shortenSlices makes the time slices of the thread short, and reports
// whether the kernel supports that.
func (p *priority) shortenSlices() bool {
	if p.usual.Policy != unix.SCHED_NORMAL {
		return false
	}
	p.usual.Runtime = slice
	setScheduler(&p.usual)
	got, err := unix.SchedGetAttr(0, 0)
	return err == nil && got.Runtime == slice
}

// try makes an attribute the raised priority, if that is permitted.
func (p *priority) try(name string, a unix.SchedAttr) bool {
	// Threads that this one creates while raised must not inherit the priority.
	a.Flags |= unix.SCHED_FLAG_RESET_ON_FORK
	if unix.SchedSetAttr(0, &a, 0) != nil {
		return false
	}
	p.name, p.raised, p.up = name, a, true
	p.usual.Flags |= unix.SCHED_FLAG_RESET_ON_FORK
	p.lower()
	return true
}

func (p *priority) raise() {
	if p.raised.Size != 0 && !p.up {
		setScheduler(&p.raised)
		p.up = true
	}
}

func (p *priority) lower() {
	if p.up {
		setScheduler(&p.usual)
		p.up = false
	}
}

// Hurry locks the calling goroutine to an OS thread of its own
// that wakes on time on a busy machine, as far as that is
// permitted. The thread should mostly sleep. The result ends
// this.
func Hurry() (end func()) {
	runtime.LockOSThread()
	p := newPriority()
	p.raise()
	return func() {
		p.lower()
		runtime.UnlockOSThread()
	}
}

// setScheduler is unix.SchedSetAttr for the calling thread, without informing
// Go's scheduler.
func setScheduler(a *unix.SchedAttr) {
	unix.RawSyscall(unix.SYS_SCHED_SETATTR, 0, uintptr(unsafe.Pointer(a)), 0)
}
