//go:build unix && !solaris && !aix

package sampledata

import (
	"os"

	"golang.org/x/sys/unix"
)

// lockFolder locks a folder until the returned file is closed.
// The file is nil if the file system has no locks.
func lockFolder(dir string) (*os.File, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	switch err := unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
	case nil:
		return d, nil
	case unix.EWOULDBLOCK:
		d.Close()
		return nil, errBusy
	default:
		d.Close()
		return nil, nil
	}
}
