//go:build linux && (amd64 || arm64)

package halt

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Now returns the program's monotonic time. A program in another
// time namespace has another clock than this process. It stays
// in that namespace.
func (p *Process) Now() time.Duration {
	p.ahead.Do(func() { p.clockAhead = clockAhead(p.pid) - clockAhead(os.Getpid()) })
	return clockTime(unix.CLOCK_MONOTONIC) + p.clockAhead
}

// clockAhead returns by how much a process's monotonic clock is
// ahead of the machine's.
func clockAhead(pid int) time.Duration {
	offsets, err := os.ReadFile(fmt.Sprintf("/proc/%d/timens_offsets", pid))
	if err != nil { // a kernel without time namespaces
		return 0
	}
	return monotonicOffset(string(offsets))
}

// monotonicOffset reads the offset of the monotonic clock in the
// text of /proc/PID/timens_offsets.
func monotonicOffset(offsets string) time.Duration {
	for line := range strings.Lines(offsets) {
		var seconds, rest int64
		if n, _ := fmt.Sscanf(line, "monotonic %d %d", &seconds, &rest); n == 2 {
			return time.Duration(seconds)*time.Second + time.Duration(rest)
		}
	}
	return 0
}
