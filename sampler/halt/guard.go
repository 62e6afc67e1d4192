//go:build linux && (amd64 || arm64)

package halt

import (
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// longestHalt is how long a halt may last before the kernel ends
// this process. It is a thousand times as long as the longest
// halts.
var longestHalt = 10 * time.Second

// newGuard returns a timer that kills this process. If a read in
// a halt never returns, nothing else can let the program go:
// only the tracing thread may detach from it, and that thread
// waits. Even Go's scheduler may wait for it.
func newGuard() timer { return newTimer(sigevent{signal: int32(unix.SIGKILL)}) }

// opened has the processes that are open, each with true.
var opened sync.Map

// calls counts reads that wait for the kernel.
type calls struct{ begun, done atomic.Int64 }

// Stuck waits for a while, and returns a process that one read
// has been waiting for all the time; 0 if there is none. A page
// that vanishes between two looks at it can do that.
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
