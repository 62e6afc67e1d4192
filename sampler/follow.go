package sampler

import (
	"context"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// FollowOptions say which of the programs that a process becomes and starts are of interest.
type FollowOptions struct {
	Children bool // those of the process's descendants, too; but not what a program that was given starts in its turn

	// Match chooses among the Go programs by the base name of the executable; nil: all but those of the Go toolchain (the
	// go command, compilers, linkers, vet).
	Match func(name string) bool
}

func (o FollowOptions) wants(m *member) bool {
	switch {
	case m.kind != goProgram && m.kind != toolProgram:
		return false
	case o.Match == nil:
		return m.kind == goProgram
	}
	return o.Match(filepath.Base(m.name))
}

// A member is a process that a follower looks at.
type member struct {
	pid   int
	name  string // of the executable
	kind  programKind
	image image // of the program that it runs
	given bool
}

type programKind int

const (
	otherProgram  programKind = iota
	goProgram                 // any but those of the toolchain
	toolProgram               // of the Go toolchain
	hiddenProgram             // not ours to look at
)

// A Follower finds the Go programs that a process becomes and starts: the test binary of go test, the server of a shell
// script. It looks at /proc now and then and touches no process; what lives for a few milliseconds only is not seen.
type Follower struct {
	root *Process
	o    FollowOptions

	mu      sync.Mutex
	family  *family
	given   bool            // a process was
	seen    map[string]bool // Go programs, by name
	refused error
}

// Follow makes ready to find the programs of a process, which stays the caller's. The error says that this system
// doesn't tell.
func Follow(root *Process, o FollowOptions) (*Follower, error) {
	family, err := newFamily(root, o.Children)
	if err != nil {
		return nil, err
	}
	return &Follower{root: root, o: o, family: family, seen: map[string]bool{}}, nil
}

// How often a follower looks, at most: more often while it has found nothing, since then the first moments of a program's
// life are lost. It uses no more than the given part of a core.
const (
	eager = 4 * time.Millisecond
	calm  = 20 * time.Millisecond
	part  = 40
)

// Programs gives processes as they begin to run a program of interest, until the context is done, or the process that is
// followed has ended and nothing of it is left that could start one. The root, where it is given, is the same Process that
// is followed; others are the receiver's to release.
func (f *Follower) Programs(ctx context.Context) iter.Seq[*Process] {
	return func(yield func(*Process) bool) {
		for {
			begin := time.Now()
			found, over := f.look()
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
			case <-time.After(max(f.pause(), part*time.Since(begin))):
			}
		}
	}
}

func (f *Follower) pause() time.Duration {
	if f.given {
		return calm
	}
	return eager
}

// look gives what was found since the look before; over says that there will be nothing any more.
func (f *Follower) look() (found []*Process, over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.root.Done():
		over = true
	default:
	}
	for _, m := range f.family.look(f.o) {
		if m.kind == goProgram || m.kind == toolProgram {
			f.seen[filepath.Base(m.name)] = true
		}
		if !m.given && m.kind != hiddenProgram {
			continue
		}
		if p, err := f.process(m.pid); err == nil && m.given {
			f.given = true
			found = append(found, p)
		} else if err != nil && f.refused == nil && f.family.runs(m.pid) {
			f.refused = err
		}
	}
	return found, over && !f.family.scripting()
}

func (f *Follower) process(pid int) (*Process, error) {
	if pid == f.root.PID {
		return f.root, f.root.inspect()
	}
	return Find(pid)
}

// Again makes a process that was given come again, now that it has executed another program, if that is of interest.
func (f *Follower) Again(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.family.again(pid)
}

// Seen lists the names of all Go programs that ran, those of no interest included.
func (f *Follower) Seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.seen))
}

// Refused says why a process can't be recorded, the first of those; nil where there was none.
func (f *Follower) Refused() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused
}

// Started lists the Go programs that a process has started, by its descendants, and which still run: without those of the
// Go toolchain.
func Started(pid int) []*Process {
	family, err := newFamily(&Process{PID: pid}, true)
	if err != nil {
		return nil
	}
	var list []*Process
	for _, m := range family.look(FollowOptions{Children: true}) {
		if m.given && m.pid != pid {
			list = append(list, &Process{PID: m.pid, Name: m.name})
		}
	}
	return list
}
