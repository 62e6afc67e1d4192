package sampler

import (
	"context"
	"iter"
	"path/filepath"
	"sync"
	"time"
)

// A ProgramFilter selects programs among those that a process executes and
// starts.
type ProgramFilter struct {
	// include the programs of the process's descendants, but not what a
	// selected program starts in turn
	Children bool

	// Match selects Go programs by the base name of the
	// executable. If it is nil, all Go programs are selected
	// except the Go toolchain's (the go command, compilers,
	// linkers, vet).
	Match func(name string) bool
}

func (o ProgramFilter) wants(m *member) bool {
	switch {
	case m.kind != goProgram && m.kind != toolProgram:
		return false
	case o.Match == nil:
		return m.kind == goProgram
	}
	return o.Match(filepath.Base(m.name))
}

// A member is a process that a programFinder watches.
type member struct {
	pid      int
	name     string // path of the executable
	kind     programKind
	image    image // the program that it runs
	reported bool
}

type programKind int

const (
	otherProgram  programKind = iota
	goProgram                 // any Go program that is not of the toolchain
	toolProgram               // of the Go toolchain
	hiddenProgram             // the process runs as another user, so its executable can't be read
)

// A programFinder finds the Go programs that a process executes
// and starts, such as the test binary of go test or the server
// that a shell script starts. It reads /proc periodically and
// touches no process. A process that lives for only a few
// milliseconds may be missed.
type programFinder struct {
	root *Process
	o    ProgramFilter

	mu     sync.Mutex // of family: reconsider may be called during programs
	family *family

	reported bool            // whether any process was reported
	seen     map[string]bool // base names of all Go programs found, selected or not
	refused  error           // why a process can't be recorded; the first such error
}

// newProgramFinder returns a finder for the programs of a
// process, which the caller still owns. It fails on systems that
// don't show what processes run.
func newProgramFinder(root *Process, o ProgramFilter) (*programFinder, error) {
	family, err := newFamily(root, o.Children)
	if err != nil {
		return nil, err
	}
	return &programFinder{root: root, o: o, family: family, seen: map[string]bool{}}, nil
}

// How long a finder pauses between two searches. The pause is
// shorter until the finder has found something: the start of the
// first program would not be recorded otherwise. After a search
// that took t, the finder pauses for at least searchShare*t. It
// then uses at most 1/searchShare of a core.
const (
	shortPause  = 4 * time.Millisecond
	longPause   = 20 * time.Millisecond
	searchShare = 40
)

// programs yields each process when it begins to run a selected
// program. It ends when the context is done. It also ends when
// the root has ended and no process is left that could start a
// selected program. If the root itself is yielded, it is the
// Process that was passed to newProgramFinder. The receiver must
// release all others.
func (f *programFinder) programs(ctx context.Context) iter.Seq[*Process] {
	return func(yield func(*Process) bool) {
		for {
			begin := time.Now()
			found, over := f.find()
			for _, p := range found {
				if !yield(p) {
					return
				}
			}
			if over {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(max(f.pause(), searchShare*time.Since(begin))):
			}
		}
	}
}

func (f *programFinder) pause() time.Duration {
	if f.reported {
		return longPause
	}
	return shortPause
}

// find returns the processes found since the previous call. over reports
// whether there will be no more.
func (f *programFinder) find() (found []*Process, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	over = f.root.HasEnded()
	for _, m := range f.family.findChanged(f.o) {
		if m.kind == goProgram || m.kind == toolProgram {
			f.seen[filepath.Base(m.name)] = true
		}
		if !m.reported && m.kind != hiddenProgram {
			continue
		}
		if p, err := f.process(m.pid); err == nil && m.reported {
			f.reported = true
			found = append(found, p)
		} else if err != nil && f.refused == nil && f.family.isRunning(m.pid) {
			f.refused = err
		}
	}
	return found, over && !f.family.scriptRuns()
}

func (f *programFinder) process(pid int) (*Process, error) {
	if pid == f.root.PID {
		return f.root, f.root.inspect()
	}
	return Find(pid)
}

// reconsider makes programs yield a process again if it has
// executed another program that is selected.
func (f *programFinder) reconsider(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.family.reconsider(pid)
}

// Started returns the running Go programs that a process or its
// descendants have started, without the Go toolchain's.
func Started(pid int) []*Process {
	family, err := newFamily(&Process{PID: pid}, true)
	if err != nil {
		return nil
	}
	var list []*Process
	for _, m := range family.findChanged(ProgramFilter{Children: true}) {
		if m.reported && m.pid != pid {
			list = append(list, &Process{PID: m.pid, Name: m.name})
		}
	}
	return list
}
