package monitor

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampledata"
)

// processClock reads the clock that counts the processor time of all threads of
// a process, to the nanosecond.
var processClock = source(Source{Every: clockEvery}, []column[unix.Timespec]{
	{Monitor: kernel("process.cpu", sampledata.Counter, "ns",
		"the process's CPU clock (clock_gettime)", clockEvery.String()),
		value: func(now *unix.Timespec) sampledata.Value { return sampledata.Count(uint64(now.Nano())) }},
}, func(t Target) (func(*unix.Timespec) error, func() error, error) {
	const scheduled = 2 // bits of the kernel's numbers of CPU clocks
	clock := int32(^t.PID<<3 | scheduled)
	return func(now *unix.Timespec) error {
		if err := unix.ClockGettime(clock, now); err != nil {
			return fmt.Errorf("read the CPU clock of process %d: %w", t.PID, err)
		}
		return nil
	}, nil, nil
})
