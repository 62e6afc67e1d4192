//go:build !linux

package monitor

import (
	"errors"
	"time"
)

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
