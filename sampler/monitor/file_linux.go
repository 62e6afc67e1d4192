//go:build amd64 || arm64

package monitor

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A file of the kernel is kept open: each read from its start
// returns current values. The open file of a process refers to
// the same process even if that ends and another process gets
// its number. A read is a single system call and allocates
// nothing: package procfs, which opens and closes the file each
// time, takes several times as long.
type file struct {
	fd     int
	name   string
	buffer []byte
}

// fileSize is more than any of these files has.
const fileSize = 4096

func openFile(name string) (*file, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return &file{fd, name, make([]byte, fileSize)}, nil
}

// read returns the file's current content, valid until the next call.
func (f *file) read() ([]byte, error) {
	n, err := unix.Pread(f.fd, f.buffer, 0)
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: f.name, Err: err}
	}
	return f.buffer[:n], nil
}

func (f *file) close() error { return unix.Close(f.fd) }

// ProcessTime returns the processor time that all threads of a
// process have used, to the nanosecond.
func ProcessTime(pid int) (time.Duration, error) {
	const scheduled = 2 // bits of the kernel's numbers of CPU clocks
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil {
		return 0, fmt.Errorf("read the CPU clock of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}
