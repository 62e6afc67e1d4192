//go:build linux && (amd64 || arm64)

package halt

import (
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// longestHalt is how long a halt may last before the kernel ends this
// process. It is a thousand times as long as the longest halts.
var longestHalt = 10 * time.Second

// A guard is a timer of the kernel that kills this process. If a read in a
// halt never returns, nothing else can let the program
// go: only the tracing thread may detach from it, and that thread waits. Even Go's scheduler may wait for it.
type guard struct {
	timer int32
	works bool
}

func newGuard() *guard {
	g := &guard{}
	ev := sigevent{signal: int32(unix.SIGKILL)}
	_, _, e := unix.RawSyscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC,
		uintptr(unsafe.Pointer(&ev)), uintptr(unsafe.Pointer(&g.timer)))
	g.works = e == 0
	return g
}

// set makes the kernel kill this process after a while; 0: no more.
func (g *guard) set(after time.Duration) {
	if g.works {
		its := [2]unix.Timespec{1: unix.NsecToTimespec(int64(after))}
		unix.RawSyscall6(unix.SYS_TIMER_SETTIME, uintptr(g.timer), 0, uintptr(unsafe.Pointer(&its)),
			0, 0, 0)
	}
}

func (g *guard) close() {
	if g.works {
		unix.RawSyscall(unix.SYS_TIMER_DELETE, uintptr(g.timer), 0, 0)
	}
}

// opened has the processes that are open, each with true.
var opened sync.Map

// calls counts reads that wait for the kernel.
type calls struct{ begun, done atomic.Int64 }

// Stuck waits for a while, and returns a process that one read has been
// waiting for all the time; 0 if there is none. A page that vanishes between
// two looks at it can do that.
func Stuck(patience time.Duration) (pid int) {
	before := map[*Process]int64{}
	opened.Range(func(p, _ any) bool {
		if done := p.(*Process).calls.done.Load(); p.(*Process).calls.begun.Load() > done {
			before[p.(*Process)] = done
		}
		return true
	})
	if len(before) == 0 {
		return 0
	}
	time.Sleep(patience)
	for p, done := range before {
		if p.calls.done.Load() == done {
			return p.pid
		}
	}
	return 0
}
