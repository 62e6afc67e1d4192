//go:build amd64 || arm64

package sampler

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampler/halt"
)

// An Identity tells one program from another. Programs may have
// the same process id: one ended before the other began, or
// executed it.
type Identity struct {
	pid   int
	start uint64
	stack uint64 // changes if a program executes itself; the kernel chooses it at random
	image image
}

// IdentityOf returns which program a process runs now. It is the
// zero Identity if that can't be read.
func IdentityOf(pid int) Identity {
	s, err := halt.ReadStat(pid)
	if err != nil {
		return Identity{}
	}
	i, err := imageOf(executableOf(pid, ""))
	if err != nil {
		return Identity{}
	}
	return Identity{pid, s.Start, s.Stack, i}
}

// HaltableBy returns the processes that a user could halt, too.
// The kernel decides: a thread asks for them as that user,
// without capabilities. Root could halt all.
func HaltableBy(list []*Process, u User) (may []*Process) {
	if u.UID == 0 {
		return list
	}
	halt.OnEndingThread(func() {
		if !becomeUser(u) {
			return
		}
		for _, p := range list {
			if fd, err := unix.Open(fmt.Sprintf("/proc/%d/mem", p.PID),
				unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
				unix.Close(fd)
				may = append(may, p)
			}
		}
	})
	return may
}

// becomeUser makes the kernel judge what this thread opens as if
// a user did. It reports whether it could.
func becomeUser(u User) bool {
	_, _ = unix.SetfsgidRetGid(u.GID)
	_, _ = unix.SetfsuidRetUid(u.UID)
	// These calls report no failure. With an impossible id they
	// return the current one.
	gid, err1 := unix.SetfsgidRetGid(-1)
	uid, err2 := unix.SetfsuidRetUid(-1)
	if err1 != nil || err2 != nil || gid != u.GID || uid != u.UID {
		return false
	}
	var none [2]unix.CapUserData
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3},
		&none[0]) == nil
}
