package monitor

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// A threadReader keeps the files of the threads open. It lists
// the threads again if their number has changed or a thread has
// ended.
type threadReader struct {
	path    string // of the folder of threads
	folder  int
	threads map[string]*threadFile
	ended   schedStat // of the threads that have ended
}

type threadFile struct {
	fd     int
	last   schedStat
	listed bool
}

func openThreadTimes(t Target) (read func(*schedStat) error, end func() error, err error) {
	r := &threadReader{path: fmt.Sprintf("/proc/%d/task", t.PID), threads: map[string]*threadFile{}}
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
	if int(folder.Nlink)-2 != len(r.threads) { // as many links as threads, and two of its own
		if err := r.list(); err != nil {
			return err
		}
	}
	*sum = r.ended
	gone := false
	for _, f := range r.threads {
		if err := f.read(); err != nil {
			gone = true // another read follows, which counts it as ended
		}
		sum.add(f.last)
	}
	if gone {
		return r.list()
	}
	return nil
}

// list opens the files of new threads, and closes the files of
// threads that have ended.
func (r *threadReader) list() error {
	names, err := os.ReadDir(r.path)
	if err != nil {
		return err
	}
	for _, f := range r.threads {
		f.listed = false
	}
	for _, n := range names {
		name := n.Name()
		if f := r.threads[name]; f != nil && f.read() == nil {
			f.listed = true
			continue
		}
		fd, err := unix.Open(r.path+"/"+name+"/schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		switch {
		case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ESRCH):
			continue // it has ended
		case err != nil:
			return &os.PathError{Op: "open", Path: r.path + "/" + name + "/schedstat", Err: err}
		}
		r.forget(name) // an ended thread of the same number
		f := &threadFile{fd: fd, listed: true}
		f.read()
		r.threads[name] = f
	}
	for name, f := range r.threads {
		if !f.listed {
			r.forget(name)
		}
	}
	return nil
}

// forget closes the file of a thread that has ended.
func (r *threadReader) forget(name string) {
	if f := r.threads[name]; f != nil {
		r.ended.add(f.last)
		unix.Close(f.fd)
		delete(r.threads, name)
	}
}

func (r *threadReader) close() error {
	for name := range r.threads {
		r.forget(name)
	}
	return unix.Close(r.folder)
}

// read reads three numbers: "110497 4042923 2".
func (f *threadFile) read() error {
	var buffer [96]byte
	n, err := unix.Pread(f.fd, buffer[:], 0)
	if err != nil {
		return err
	}
	var s schedStat
	rest := buffer[:n]
	for _, to := range []*uint64{&s.cpu, &s.delay, &s.slices} {
		i := 0
		for i < len(rest) && rest[i] >= '0' && rest[i] <= '9' {
			i++
		}
		if *to, err = strconv.ParseUint(string(rest[:i]), 10, 64); err != nil {
			return err
		}
		rest = rest[min(i+1, len(rest)):]
	}
	f.last = s
	return nil
}
