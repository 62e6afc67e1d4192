//go:build linux && (amd64 || arm64)

package monitor

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampler/halt"
)

// A threadReader lists the threads again if their number has
// changed or a thread has ended.
type threadReader struct {
	pid    int
	path   string // of the folder of threads
	folder int
	files  halt.ThreadFiles
	last   map[int]schedStat // of the threads that there are
	ended  schedStat         // of the threads that have ended
	buffer [96]byte
}

// maxThreads is how many threads Go lets a program have, unless
// that sets another limit.
const maxThreads = 10_000

func openThreadTimes(t Target) (read func(*schedStat) error, end func() error, err error) {
	r := &threadReader{
		pid: t.PID, path: fmt.Sprintf("/proc/%d/task", t.PID),
		files: halt.NewThreadFiles(t.PID, maxThreads, "schedstat"),
		last:  map[int]schedStat{},
	}
	if r.folder, err = unix.Open(r.path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC,
		0); err != nil {
		return nil, nil, &os.PathError{Op: "open", Path: r.path, Err: err}
	}
	return r.read, r.close, nil
}

func (r *threadReader) read(sum *schedStat) error {
	var folder unix.Stat_t
	if err := unix.Fstat(r.folder, &folder); err != nil {
		return fmt.Errorf("read %s: %w", r.path, err)
	}
	if int(folder.Nlink)-2 != len(r.last) { // as many links as threads, and two of its own
		if err := r.list(); err != nil {
			return err
		}
	}
	*sum = r.ended
	gone := false
	for tid, last := range r.last {
		now, err := r.readThread(tid)
		switch {
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ESRCH):
			r.ended.add(last)
			delete(r.last, tid)
			now, gone = last, true
		case err != nil:
			return err
		default:
			r.last[tid] = now
		}
		sum.add(now)
	}
	if gone {
		return r.list()
	}
	return nil
}

// list adds the threads that are new.
func (r *threadReader) list() error {
	tids, err := halt.ThreadsOf(r.pid)
	for _, tid := range tids {
		if _, known := r.last[tid]; !known {
			r.last[tid] = schedStat{}
		}
	}
	return err
}

// readThread reads three numbers: "110497 4042923 2".
func (r *threadReader) readThread(tid int) (s schedStat, err error) {
	b, err := r.files.Read(tid, 0, r.buffer[:])
	switch {
	case err != nil:
		return s, err
	case len(b) == 0:
		return s, unix.ESRCH
	}
	rest := strings.TrimSpace(string(b))
	for _, to := range []*uint64{&s.cpu, &s.delay, &s.slices} {
		var field string
		field, rest, _ = strings.Cut(rest, " ")
		if *to, err = strconv.ParseUint(field, 10, 64); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (r *threadReader) close() error {
	r.files.Close()
	return unix.Close(r.folder)
}
