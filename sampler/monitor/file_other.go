//go:build !linux

package monitor

import "errors"

// errNoProc reports that this platform has no /proc.
var errNoProc = errors.New("it is read from /proc, which only Linux has")

// A file of the kernel, which other platforms don't have.
type file struct{}

func openFile(string) (*file, error) { return nil, errNoProc }
func (*file) read() ([]byte, error)  { return nil, errNoProc }
func (*file) close() error           { return nil }
