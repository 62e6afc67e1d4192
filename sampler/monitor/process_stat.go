package monitor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// processStat reads /proc/PID/stat of Linux (proc_pid_stat(5)).
var processStat = Source{
	Monitors: []sampledata.Monitor{
		{
			Name: "process.cpu", Layer: sampledata.Kernel, Kind: sampledata.Counter, Unit: "ns",
			Source: "/proc/PID/stat: utime + stime", Resolution: tick.String(),
		},
		{Name: "process.resident", Layer: sampledata.Kernel, Kind: sampledata.Level, Unit: "bytes", Source: "/proc/PID/stat: rss"},
	},
	Open: openProcessStat,
}

// tick is the unit of time in /proc: a hundredth of a second on all Linux platforms that Go supports.
const tick = 10 * time.Millisecond

// Numbers of the file's fields, as in the manual.
const (
	statUserTime   = 14
	statSystemTime = 15
	statResident   = 24
)

// A statReader keeps the file open: each read from its start returns current values. The open file refers to the same
// process even if that ends and another process gets its pid.
type statReader struct {
	file   *os.File
	buffer [2048]byte // the file has at most 52 numbers
}

func openProcessStat(t Target) (Reader, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("it is read from /proc, which only Linux has")
	}
	f, err := os.Open(fmt.Sprintf("/proc/%d/stat", t.PID))
	if err != nil {
		return nil, err
	}
	return &statReader{file: f}, nil
}

func (r *statReader) Read(values []sampledata.Value) error {
	n, err := r.file.ReadAt(r.buffer[:], 0)
	if err != nil && err != io.EOF {
		return err
	}
	s, err := parseStat(r.buffer[:n])
	if err != nil {
		return fmt.Errorf("read %s: %w", r.file.Name(), err)
	}
	values[0] = sampledata.Count(s.ticks * uint64(tick))
	values[1] = sampledata.Number(s.pages * int64(os.Getpagesize()))
	return nil
}

func (r *statReader) Close() error { return r.file.Close() }

// A stat has the fields that this package uses.
type stat struct {
	ticks uint64 // processor time
	pages int64  // resident memory
}

// parseStat parses "4711 (a name) S 1 ...". The name may contain spaces and parentheses, so the fields are counted from
// the last closing parenthesis on: the next one is number 3.
func parseStat(line []byte) (s stat, err error) {
	end := bytes.LastIndexByte(line, ')')
	if end < 0 {
		return s, errors.New("there is no name in parentheses")
	}
	field := 2
	for word := range bytes.FieldsSeq(line[end+1:]) {
		field++
		var n uint64
		switch field {
		case statUserTime, statSystemTime:
			n, err = strconv.ParseUint(string(word), 10, 64)
			s.ticks += n
		case statResident:
			s.pages, err = strconv.ParseInt(string(word), 10, 64)
		}
		if err != nil {
			return s, fmt.Errorf("field %d: %w", field, err)
		}
	}
	if field < statResident {
		return s, fmt.Errorf("there are only %d fields, want at least %d", field, statResident)
	}
	return s, nil
}
