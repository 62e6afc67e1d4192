package monitor

import (
	"bytes"
	"os"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// To read the process's CPU clock, the kernel adds up all
// threads. For /proc/PID/stat it does that, too, and writes 52
// numbers.
const (
	clockEvery = 500 * time.Millisecond
	statEvery  = time.Second
)

// processStat reads /proc/PID/stat of Linux (proc_pid_stat(5)).
var processStat = fileSource("/proc/PID/stat", statEvery, nil, []column[content]{
	statColumn("process.system_cpu", sampledata.Counter, "ns",
		"stime, in steps of "+tick.String(), 15, int64(tick)),
	statColumn("process.minor_faults", sampledata.Counter, "", "minflt", 10, 1),
	statColumn("process.major_faults", sampledata.Counter, "", "majflt", 12, 1),
	statColumn("process.threads", sampledata.Level, "", "num_threads", 20, 1),
	statColumn("process.resident", sampledata.Level, "bytes", "rss", 24, int64(os.Getpagesize())),
})

// processClock reads the clock that counts the processor time of
// all threads of a process.
var processClock = source(Source{Every: clockEvery}, []column[time.Duration]{
	{Monitor: kernel("process.cpu", sampledata.Counter, "ns",
		"the process's CPU clock (clock_gettime)", clockEvery.String()),
		value: func(now *time.Duration) sampledata.Value { return sampledata.Count(uint64(*now)) }},
}, func(t Target) (func(*time.Duration) error, func() error, error) {
	return func(now *time.Duration) (err error) {
		*now, err = ProcessTime(t.PID)
		return err
	}, nil, nil
})

// tick is the unit of time in /proc: a hundredth of a second on
// all Linux platforms that Go supports.
const tick = 10 * time.Millisecond

// statColumn is a field by its number in the manual, as a
// multiple of a unit.
func statColumn(name string, kind sampledata.Kind, unit, source string, field int,
	times int64) column[content] {
	return column[content]{
		Monitor: kernel(name, kind, unit, "/proc/PID/stat: "+source, statEvery.String()),
		value: func(c *content) sampledata.Value {
			n, ok := numberOf(statField(c.text, field))
			switch {
			case !ok:
				return sampledata.Value{}
			case kind == sampledata.Counter:
				return sampledata.Count(n * uint64(times))
			}
			return sampledata.Number(int64(n) * times)
		},
		absent: noLine,
	}
}

// statField returns a field of "4711 (a name) S 1 ...". The name
// may contain spaces and parentheses, so the fields are counted
// from the last closing parenthesis on: the next one is number
// 3.
func statField(line []byte, number int) []byte {
	at := 2
	for word := range bytes.FieldsSeq(line[bytes.LastIndexByte(line, ')')+1:]) {
		if at++; at == number {
			return word
		}
	}
	return nil
}
