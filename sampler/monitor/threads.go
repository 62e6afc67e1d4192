package monitor

import (
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// threadsEvery is how often the threads are read. Each takes a
// microsecond or two.
const threadsEvery = time.Second

// threadTimes adds up /proc/PID/task/*/schedstat, which the
// kernel counts to the nanosecond. Threads that have ended keep
// the share that they had when they were last read.
var threadTimes = source(Source{Every: threadsEvery}, []column[schedStat]{
	{Monitor: kernel("threads.cpu", sampledata.Counter, "ns",
		"/proc/PID/task/*/schedstat: time on a CPU", threadsEvery.String()),
		value: func(s *schedStat) sampledata.Value { return sampledata.Count(s.cpu) }},
	{Monitor: kernel("threads.run_delay", sampledata.Counter, "ns",
		"/proc/PID/task/*/schedstat: time ready for a CPU without one", threadsEvery.String()),
		value: func(s *schedStat) sampledata.Value { return sampledata.Count(s.delay) }},
	{Monitor: kernel("threads.switches", sampledata.Counter, "",
		"/proc/PID/task/*/schedstat: how often a thread got a CPU", threadsEvery.String()),
		value: func(s *schedStat) sampledata.Value { return sampledata.Count(s.slices) }},
}, openThreadTimes)

// A schedStat is what the scheduler counts.
type schedStat struct {
	cpu, delay, slices uint64
}

func (s *schedStat) add(o schedStat) {
	s.cpu += o.cpu
	s.delay += o.delay
	s.slices += o.slices
}
