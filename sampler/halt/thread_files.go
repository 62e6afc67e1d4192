//go:build linux && (amd64 || arm64)

package halt

// ThreadFiles reads files of the threads of a process in /proc.
// It keeps them open: opening one costs several times as much as
// reading it, and in a halt it takes longer than all else that
// the halt does about the thread.
type ThreadFiles struct {
	pid   int
	most  int // threads whose files are kept open
	names []string
	open  map[int][]*File // by thread; nil until they are opened
}

// NewThreadFiles returns the files with some names of a process's threads.
func NewThreadFiles(pid, most int, names ...string) ThreadFiles {
	return ThreadFiles{pid, most, names, map[int][]*File{}}
}

// Read returns the content of a thread's file, given the index
// of its name. It forgets the files of a thread that has ended:
// a new one may get its id soon.
func (t *ThreadFiles) Read(tid, file int, buf []byte) ([]byte, error) {
	all := t.of(tid)
	if all[file] == nil {
		f, err := OpenFile(threadFile(t.pid, tid, t.names[file]))
		if err != nil {
			return nil, err
		}
		all[file] = &f
	}
	n, err := all[file].ReadAt(buf, 0)
	if n == 0 {
		t.forget(tid)
	}
	return buf[:n], err
}

// of returns the files of a thread. If too many are open, it
// closes the files of any other thread. To close all at once
// would take long, and may happen in a halt.
func (t *ThreadFiles) of(tid int) []*File {
	all := t.open[tid]
	if all == nil {
		for other := range t.open {
			if len(t.open) < t.most {
				break
			}
			t.forget(other)
		}
		all = make([]*File, len(t.names))
		t.open[tid] = all
	}
	return all
}

func (t *ThreadFiles) forget(tid int) {
	for _, f := range t.open[tid] {
		if f != nil {
			f.Close()
		}
	}
	delete(t.open, tid)
}

// Close closes all files.
func (t *ThreadFiles) Close() {
	for tid := range t.open {
		t.forget(tid)
	}
}
