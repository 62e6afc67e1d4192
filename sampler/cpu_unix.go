//go:build unix

package sampler

import (
	"syscall"
	"time"
)

// ProcessorTime returns the processor time that this process has used.
func ProcessorTime() time.Duration { return used(syscall.RUSAGE_SELF) }

// FamilyProcessorTime returns the processor time that this
// process has used, and the processes that it started and that
// have ended.
func FamilyProcessorTime() time.Duration { return ProcessorTime() + used(syscall.RUSAGE_CHILDREN) }

func used(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
