//go:build linux && (amd64 || arm64)

package halt

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// A priority is the scheduling priority of the worker's OS thread. It is raised while threads are halted: on a busy
// machine the longest halts are those in which the sampler waits for a CPU.
type priority struct {
	usual  unix.SchedAttr
	raised unix.SchedAttr
	denied bool
	up     bool
}

// newPriority finds out how far the calling thread may raise its priority. It tries the real-time class first
// (SCHED_FIFO), which runs before all ordinary threads, and then a low nice value. If neither is permitted, the priority
// stays as it is.
func newPriority() *priority {
	p := &priority{}
	usual, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		p.denied = true
		return p
	}
	p.usual = *usual
	first := unix.SchedAttr{Size: usual.Size, Policy: unix.SCHED_FIFO, Priority: 1}
	nice := *usual
	nice.Nice = -15
	for _, try := range []unix.SchedAttr{first, nice} {
		// Threads that this one creates while raised must not inherit the priority.
		try.Flags |= unix.SCHED_FLAG_RESET_ON_FORK
		if unix.SchedSetAttr(0, &try, 0) == nil {
			p.raised, p.up = try, true
			p.usual.Flags |= unix.SCHED_FLAG_RESET_ON_FORK
			p.lower()
			return p
		}
	}
	p.denied = true
	return p
}

func (p *priority) raise() {
	if !p.denied && !p.up {
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

// setScheduler is unix.SchedSetAttr for the calling thread, without informing Go's scheduler.
func setScheduler(a *unix.SchedAttr) {
	unix.RawSyscall(unix.SYS_SCHED_SETATTR, 0, uintptr(unsafe.Pointer(a)), 0)
}
