//go:build linux && (amd64 || arm64)

package probe

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampler/halt"
)

// openKernel returns the best instruments that are permitted, and what they
// can't tell.
func openKernel(p *Program, o Options) (kernel, string, error) {
	reason := errors.New("breakpoints of the processor were asked for")
	if !o.Breakpoints {
		u, err := openUprobes(p)
		if err == nil {
			return u, "", nil
		}
		reason = err
	}
	b, err := openBreakpoints(p.PID)
	if err != nil {
		return nil, "", fmt.Errorf("%w\nbreakpoints of the processor do not work either: %w", reason, err)
	}
	return b, "counts only: " + reason.Error(), nil
}

// hurry locks the calling goroutine to a thread of its own that
// wakes on time on a busy machine, as far as that is permitted.
// The result ends that.
func hurry() func() { return halt.Hurry() }

// monotonic returns the time by the clock of hits.
func monotonic() uint64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return uint64(t.Nano())
}

// nap sleeps without Go's timers, which other threads would have
// to serve in time.
func nap(d time.Duration) {
	t := unix.NsecToTimespec(d.Nanoseconds())
	_ = unix.Nanosleep(&t, nil)
}

// napAwake sleeps without informing Go's scheduler. On a busy
// machine, the threads that have its processors may themselves
// wait for a CPU: a thread that gave its processor away would
// have to wait for them.
func napAwake(d time.Duration) {
	t := unix.NsecToTimespec(d.Nanoseconds())
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}
