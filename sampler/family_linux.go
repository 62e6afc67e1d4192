//go:build amd64 || arm64

package sampler

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cpprof/cpprof/sampler/halt"
)

// A family is a process, the root, and its descendants, as /proc
// shows them. A new process is a member if its parent is a
// member, or if it is an orphan in the root's process group.
type family struct {
	root     int
	children bool
	group    int       // the root's process group
	began    halt.Stat // the root
	// the parents of the root and of this process; their other
	// children are not members
	outer     [2]int
	members   map[int]*member
	strangers map[int]bool
	// since the previous call of findChanged began, no member
	// was there that could start a process
	barren bool
	kinds  map[image]programKind
	script image // the program that the root ran last
	own    image // the program that this process runs
}

// An image identifies an executable file, even after the file was removed.
type image struct {
	device, file uint64
	size         uint64
	changed      unix.StatxTimestamp
}

func newFamily(root *Process, children bool) (*family, error) {
	self := os.Getpid()
	script, _ := imageOf(root.Name)
	own, err := imageOf(executableOf(self, ""))
	if err != nil {
		return nil, fmt.Errorf("reading what processes run: %w: is /proc mounted?", err)
	}
	s := root.from.Stat
	if s.PID == 0 {
		if s, err = halt.ReadStat(root.PID); err != nil {
			return nil, fmt.Errorf("reading where process %d comes from: %w", root.PID, err)
		}
	}
	return &family{
		own: own, script: script, root: root.PID, children: children, group: s.Group,
		began: s, outer: [2]int{s.Parent, os.Getppid()},
		members: map[int]*member{root.PID: {pid: root.PID}}, strangers: map[int]bool{self: true},
		kinds: map[image]programKind{},
	}, nil
}

// findChanged returns the members that run another program than
// at the previous call. It marks as reported those that the
// filter selects.
func (f *family) findChanged(o ProgramFilter) []*member {
	var changed []*member
	inspect := func(m *member) {
		if f.hasChanged(m) {
			m.reported = o.wants(m)
			changed = append(changed, m)
		}
	}
	var fresh []halt.Stat
	// a member may start a process after findNew has looked, and
	// end before this call does
	grows := f.mayGrow()
	if f.children {
		fresh = f.findNew()
	}
	for _, pid := range slices.Sorted(maps.Keys(f.members)) {
		inspect(f.members[pid])
	}
	for more := true; more; {
		more = false
		fresh = slices.DeleteFunc(fresh, func(s halt.Stat) bool {
			if !f.isMember(s) {
				return false
			}
			m := &member{pid: s.PID}
			f.members[s.PID] = m
			inspect(m)
			more = true
			return true
		})
	}
	for _, s := range fresh {
		f.strangers[s.PID] = true
	}
	f.barren = !grows && !f.mayGrow()
	return changed
}

// mayGrow reports whether any member is left that could start another one.
func (f *family) mayGrow() bool {
	for pid, m := range f.members {
		if !m.reported && f.isRunning(pid) {
			return true
		}
	}
	return false
}

// findNew returns the processes that did not exist at the
// previous call, oldest first, and forgets those that have
// ended.
func (f *family) findNew() []halt.Stat {
	pids, err := halt.Processes()
	if err != nil {
		return nil
	}
	there := make(map[int]bool, len(pids))
	var fresh []halt.Stat
	for _, pid := range pids {
		there[pid] = true
		if f.members[pid] != nil || f.strangers[pid] {
			continue
		}
		if s, err := halt.ReadStat(pid); err == nil {
			fresh = append(fresh, s)
		}
	}
	maps.DeleteFunc(f.members, func(pid int, _ *member) bool { return !there[pid] })
	maps.DeleteFunc(f.strangers, func(pid int, _ bool) bool { return !there[pid] })
	slices.SortFunc(fresh, halt.Stat.Compare)
	return fresh
}

// isMember reports whether a new process is a member of the
// family. Example: a shell, the root, ran "(server &)" and the
// subshell has ended before findNew could see it. The server's
// parent is now process 1, but its process group is still the
// shell's, so it is a member. An orphan that comes when no
// member was left is somebody else's: the group may belong to
// other programs of a terminal or a test.
func (f *family) isMember(s halt.Stat) bool {
	if parent := f.members[s.Parent]; parent != nil {
		return !parent.reported
	}
	if f.barren || s.Group != f.group || s.Compare(f.began) < 0 ||
		slices.Contains(f.outer[:], s.Parent) {
		return false
	}
	// An orphan: its parent began and ended between two calls of findNew.
	if s.Parent == 1 {
		return true
	}
	parent, err := halt.ReadStat(s.Parent)
	return err == nil && parent.Group != f.group
}

// hasChanged reports whether a member runs another program than
// at the previous call. Members that were reported are skipped.
func (f *family) hasChanged(m *member) bool {
	if m.reported {
		return false
	}
	path := executableOf(m.pid, "")
	now, err := imageOf(path)
	if m.pid == f.root && now == f.own {
		return false // just launched: it has not executed its program yet
	}
	switch {
	case errors.Is(err, os.ErrPermission) && m.kind != hiddenProgram:
		m.kind = hiddenProgram
		return true
	case err != nil || now == m.image:
		return false
	}
	kind, known := f.kinds[now]
	if !known {
		if kind, err = readKind(m.pid, now); err != nil {
			return false // it is just executing another program
		}
		f.kinds[now] = kind
	}
	name, err := os.Readlink(path)
	if err != nil {
		return false
	}
	m.image, m.kind, m.name = now, kind, strings.TrimSuffix(name, " (deleted)")
	if m.pid == f.root {
		f.script = now
	}
	return true
}

// imageOf does not ask what serves a file system, which may not
// answer, if the kernel knows the file.
func imageOf(path string) (image, error) {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_STATX_DONT_SYNC, unix.STATX_BASIC_STATS, &s)
	return image{unix.Mkdev(s.Dev_major, s.Dev_minor), s.Ino, s.Size, s.Mtime}, err
}

// readKind reads the kind of a process's executable. It fails if
// the executable is no longer the given image.
func readKind(pid int, i image) (programKind, error) {
	if err := answers(pid); err != nil {
		return otherProgram, err
	}
	f, err := os.Open(executableOf(pid, ""))
	if err != nil {
		return otherProgram, err
	}
	defer f.Close()
	path := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if now, err := imageOf(path); err != nil || now != i {
		return otherProgram, errors.New("the process has executed another program")
	}
	e, err := ReadExecutable(path)
	switch {
	case err != nil:
		return otherProgram, nil
	case e.Toolchain:
		return toolProgram, nil
	}
	return goProgram, nil
}

// reconsider makes the next findChanged inspect a member again that was
// reported.
func (f *family) reconsider(pid int) {
	if m := f.members[pid]; m != nil {
		m.reported, m.image = false, image{}
	}
}

// scriptRuns reports whether parts of a script still run after
// the root, its first process, has ended: subshells, and
// processes that have not executed their own program yet.
func (f *family) scriptRuns() bool {
	if f.script == (image{}) {
		return false
	}
	for pid, m := range f.members {
		if pid == f.root || m.reported || m.kind != otherProgram || m.image != f.script {
			continue
		}
		if f.isRunning(pid) {
			return true
		}
	}
	return false
}

// isRunning reports whether a process exists and is not a zombie.
func (*family) isRunning(pid int) bool {
	return !halt.LooksEnded(pid)
}

// An origin is where a process comes from, as it was when the
// process began or was found.
type origin struct{ halt.Stat }

func originOf(pid int) origin {
	s, _ := halt.ReadStat(pid) // without it, it is read when it is needed
	return origin{s}
}
