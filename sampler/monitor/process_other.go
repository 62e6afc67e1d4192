//go:build !linux || !(amd64 || arm64)

package monitor

import (
	"errors"
	"time"

	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

func openThreadTimes(Target) (func(*schedStat) error, func() error, error) {
	return nil, nil, errors.New("it is read from /proc, which cpprof does only on Linux (amd64 or arm64)")
}

// A process is a target with memory that can't be read on this platform.
type process struct{}

var errNoMemory = errors.New("it is read from the program's memory, which cpprof can do only on Linux (amd64 or arm64)")

func openProcess(Target) (*process, error) { return nil, errNoMemory }

func (*process) binary(Target) (*gobinary.Binary, error) { return nil, errNoMemory }
func (*process) ownLayout() (*layout.Layout, error)      { return nil, errNoMemory }
func (*process) Path(string) string                      { return "" }
func (*process) Read(uint64, []byte) error               { return errNoMemory }
func (*process) ReadRanges(r []memory.Range) int         { return len(r) }
func (*process) Close() error                            { return nil }

// errNoProc reports that this platform has no /proc.
var errNoProc = errors.New("it is read from /proc, which only Linux has")

// A file of the kernel, which other platforms don't have.
type file struct{}

func openFile(string) (*file, error) { return nil, errNoProc }
func (*file) read() ([]byte, error)  { return nil, errNoProc }
func (*file) close() error           { return nil }

// ProcessTime returns an error on this platform.
func ProcessTime(int) (time.Duration, error) {
	return 0, errors.New("only Linux has a clock for another process's processor time")
}

func openPerf(Target, []perfEvent) (Reader, error) {
	return nil, errors.New("only Linux has performance events (perf_event_open)")
}

// system returns the sources that only Linux has.
func system() []Source { return nil }
