//go:build linux && (amd64 || arm64)

package halt

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// A priority is the scheduling priority of the worker's OS thread. It is raised while the worker sleeps until a halt, and
// during the halt:
//
//   - A thread that has slept at its usual priority may wait for a CPU until the target gives one up. The halts would then
//     meet the target at moments at which it does nothing.
//   - On a busy machine the longest halts are those in which the sampler waits for a CPU.
type priority struct {
	name   string // what was permitted, for the recording
	usual  unix.SchedAttr
	raised unix.SchedAttr
	up     bool
}

// slice is the shortest time slice that Linux accepts, in nanoseconds. It is no privilege: a thread with short slices gets
// no more time, but waits less for each slice (Linux 6.12 and later).
const slice = 100_000

// newPriority finds out how far the calling thread may raise its priority. It tries the real-time class first
// (SCHED_FIFO), which runs before all ordinary threads, and then a low nice value. If neither is permitted, there are
// short time slices. They are also used for what the worker does at its usual priority.
func newPriority() *priority {
	p := &priority{}
	usual, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		return p
	}
	p.usual = *usual
	if usual.Policy == unix.SCHED_NORMAL {
		p.usual.Runtime = slice
		setScheduler(&p.usual)
		if got, err := unix.SchedGetAttr(0, 0); err == nil && got.Runtime == slice {
			p.name = "short time slices"
		}
	}
	first := unix.SchedAttr{Size: usual.Size, Policy: unix.SCHED_FIFO, Priority: 1}
	nice := p.usual
	nice.Nice = min(nice.Nice, -15)
	for _, try := range []struct {
		name string
		unix.SchedAttr
	}{{"real-time priority", first}, {"nice -15", nice}} {
		// Threads that this one creates while raised must not inherit the priority.
		try.Flags |= unix.SCHED_FLAG_RESET_ON_FORK
		if unix.SchedSetAttr(0, &try.SchedAttr, 0) == nil {
			p.name, p.raised, p.up = try.name, try.SchedAttr, true
			p.usual.Flags |= unix.SCHED_FLAG_RESET_ON_FORK
			p.lower()
			return p
		}
	}
	return p
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

// setScheduler is unix.SchedSetAttr for the calling thread, without informing Go's scheduler.
func setScheduler(a *unix.SchedAttr) {
	unix.RawSyscall(unix.SYS_SCHED_SETATTR, 0, uintptr(unsafe.Pointer(a)), 0)
}
