package agent

import (
	"fmt"
	"os"
	"syscall"

	"github.com/cpprof/cpprof/sampler"
	"golang.org/x/sys/unix"
)

// ownFolder returns an error unless a folder is this user's, and
// closed to all others. It keeps other agents out of it until
// release.
func ownFolder(dir string) (release func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		stat, ok := info.Sys().(*syscall.Stat_t)
		switch {
		case !info.IsDir():
			err = fmt.Errorf("%s is not a folder", dir)
		case !ok || int(stat.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0:
			err = fmt.Errorf("other users can look into %s, and stacks of programs are not for everybody: "+
				"chmod 700 it, as its owner, or give another folder", dir)
		case unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil:
			err = fmt.Errorf("another agent uses %s: give another folder", dir)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

// ownerOf returns the user who may trace a process; root if
// nobody else may.
func ownerOf(p *sampler.Process) sampler.User {
	var stat unix.Stat_t
	if unix.Stat(fmt.Sprintf("/proc/%d", p.PID), &stat) != nil {
		return sampler.User{}
	}
	u := sampler.User{UID: int(stat.Uid), GID: int(stat.Gid)}
	if len(sampler.HaltableBy([]*sampler.Process{p}, u)) == 0 {
		return sampler.User{}
	}
	return u
}
