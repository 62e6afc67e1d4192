//go:build amd64 || arm64

// Package perfevent opens performance events in all threads of a process
// (perf_event_open).
package perfevent

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampler/halt"
)

// attempts is how often events are opened anew because the
// process has started threads meanwhile. A thread inherits the
// events of the one that starts it only if these are there by
// then.
const attempts = 20

// InThreads opens an event in each thread of a process. Threads
// that have ended are left out. It returns false if the process
// starts threads faster than events can be opened in them: then
// some lack the event.
func InThreads(pid int, open func(tid int) (fd int, err error)) (fds []int, all bool, err error) {
	tids, err := halt.ThreadsOf(pid)
	for range attempts {
		CloseAll(fds)
		if err != nil {
			return nil, false, err
		}
		if fds, err = openAll(tids, open); err != nil {
			return nil, false, err
		}
		var now []int
		now, err = halt.ThreadsOf(pid)
		if err == nil && !slices.ContainsFunc(now,
			func(tid int) bool { return !slices.Contains(tids, tid) }) {
			return fds, true, nil
		}
		tids = now
	}
	return fds, false, nil
}

func openAll(tids []int, open func(tid int) (fd int, err error)) (fds []int, err error) {
	for _, tid := range tids {
		fd, err := open(tid)
		if errors.Is(err, unix.ESRCH) {
			continue
		}
		if err != nil {
			CloseAll(fds)
			return nil, err
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

// CloseAll closes events.
func CloseAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
