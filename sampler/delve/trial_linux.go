package delve

import (
	"runtime/debug"

	"golang.org/x/sys/unix"

	bounds "github.com/cpprof/cpprof/internal/memory"
)

// limitMemory limits this process to half of the machine's memory.
func limitMemory() {
	limit := 2 * bounds.Default()
	debug.SetMemoryLimit(limit / 2)
	_ = unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(limit), Max: uint64(limit)})
}
