package monitor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// To read the process's CPU clock, the kernel adds up all threads. For
// /proc/PID/stat it does that, too, and writes 52 numbers.
const (
	clockEvery = 500 * time.Millisecond
	statEvery  = time.Second
)

// processStat reads /proc/PID/stat of Linux (proc_pid_stat(5)).
var processStat = source(Source{Every: statEvery}, []column[stat]{
	{Monitor: kernel("process.system_cpu", sampledata.Counter, "ns",
		"/proc/PID/stat: stime, in steps of "+tick.String(), statEvery.String()),
		value: func(s *stat) sampledata.Value { return sampledata.Count(s.system * uint64(tick)) }},
	{Monitor: kernel("process.minor_faults", sampledata.Counter, "", "/proc/PID/stat: minflt",
		statEvery.String()),
		value: func(s *stat) sampledata.Value { return sampledata.Count(s.minorFaults) }},
	{Monitor: kernel("process.major_faults", sampledata.Counter, "", "/proc/PID/stat: majflt",
		statEvery.String()),
		value: func(s *stat) sampledata.Value { return sampledata.Count(s.majorFaults) }},
	{Monitor: kernel("process.threads", sampledata.Level, "", "/proc/PID/stat: num_threads",
		statEvery.String()),
		value: func(s *stat) sampledata.Value { return sampledata.Number(int64(s.threads)) }},
	{Monitor: kernel("process.resident", sampledata.Level, "bytes", "/proc/PID/stat: rss",
		statEvery.String()),
		value: func(s *stat) sampledata.Value { return sampledata.Number(int64(s.pages) * pageSize) }},
}, openProcessStat)

var pageSize = int64(os.Getpagesize())

// tick is the unit of time in /proc: a hundredth of a second on all Linux
// platforms that Go supports.
const tick = 10 * time.Millisecond

func openProcessStat(t Target) (read func(*stat) error, end func() error, err error) {
	f, err := openFile(fmt.Sprintf("/proc/%d/stat", t.PID))
	if err != nil {
		return nil, nil, err
	}
	return func(s *stat) error {
		line, err := f.read()
		if err != nil {
			return err
		}
		if *s, err = parseStat(line); err != nil {
			return fmt.Errorf("read /proc/%d/stat: %w", t.PID, err)
		}
		return nil
	}, f.close, nil
}

// A stat has the fields that this package uses.
type stat struct {
	minorFaults, majorFaults uint64
	system                   uint64 // processor time in the kernel, in ticks
	threads                  uint64
	pages                    uint64 // resident memory
}

// lastStat is the number of the last field of a stat.
const lastStat = 24

// field returns a field by its number in the manual; nil for those that no
// monitor needs.
func (s *stat) field(number int) *uint64 {
	switch number {
	case 10:
		return &s.minorFaults
	case 12:
		return &s.majorFaults
	case 15:
		return &s.system
	case 20:
		return &s.threads
	case lastStat:
		return &s.pages
	}
	return nil
}

// parseStat parses "4711 (a name) S 1 ...". The name may contain spaces and
// parentheses, so the fields are counted from the last closing parenthesis on:
// the next one is number 3.
func parseStat(line []byte) (s stat, err error) {
	end := bytes.LastIndexByte(line, ')')
	if end < 0 {
		return s, errors.New("there is no name in parentheses")
	}
	number := 2
	for word := range bytes.FieldsSeq(line[end+1:]) {
		if number++; number > lastStat {
			return s, nil
		}
		if f := s.field(number); f != nil {
			if *f, err = strconv.ParseUint(string(word), 10, 64); err != nil {
				return s, fmt.Errorf("field %d: %w", number, err)
			}
		}
	}
	if number < lastStat {
		return s, fmt.Errorf("there are only %d fields, want at least %d", number, lastStat)
	}
	return s, nil
}
