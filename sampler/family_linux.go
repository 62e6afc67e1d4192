package sampler

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A family is a process and what descends from it, as /proc shows them. A process belongs to it if its parent did when it
// was first seen, or if it is an orphan of the family's process group.
type family struct {
	root      int
	children  bool
	group     int         // of processes, the root's
	began     processStat // the root, or where it has ended, this process
	outer     [2]int      // the parents of the root and of this process, who have other children, too
	members   map[int]*member
	strangers map[int]bool
	kinds     map[image]programKind
	script    image // what the root ran last
	own       image // what this process runs
}

// An image tells one executable's file from another, even after it was removed.
type image struct {
	device, file uint64
	size         int64
	changed      unix.Timespec
}

func newFamily(root *Process, children bool) (*family, error) {
	self := os.Getpid()
	script, _ := imageOf(root.Name)
	own, err := imageOf(executableOf(self, ""))
	if err != nil {
		return nil, fmt.Errorf("what processes run is not to be seen: %w: is /proc mounted?", err)
	}
	s, err := readStat(root.PID)
	if err != nil {
		if s, err = readStat(self); err != nil {
			return nil, err
		}
	}
	return &family{
		own: own, script: script, root: root.PID, children: children, group: s.group, began: s, outer: [2]int{s.parent, os.Getppid()},
		members: map[int]*member{root.PID: {pid: root.PID}}, strangers: map[int]bool{self: true}, kinds: map[image]programKind{},
	}, nil
}

// look gives the members that run another program than at the look before, and notes those that are wanted as given.
func (f *family) look(o FollowOptions) []*member {
	var changed []*member
	examine := func(m *member) {
		if f.examine(m) {
			m.given = o.wants(m)
			changed = append(changed, m)
		}
	}
	var fresh []processStat
	if f.children {
		fresh = f.list()
	}
	for _, pid := range slices.Sorted(maps.Keys(f.members)) {
		examine(f.members[pid])
	}
	for more := true; more; {
		more = false
		fresh = slices.DeleteFunc(fresh, func(s processStat) bool {
			if !f.begets(s) {
				return false
			}
			m := &member{pid: s.pid}
			f.members[s.pid] = m
			examine(m)
			more = true
			return true
		})
	}
	for _, s := range fresh {
		f.strangers[s.pid] = true
	}
	return changed
}

// list gives the processes that were not there before, in the order in which they began, and forgets those that are gone.
func (f *family) list() []processStat {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	there := make(map[int]bool, len(names))
	var fresh []processStat
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		there[pid] = true
		if f.members[pid] != nil || f.strangers[pid] {
			continue
		}
		if s, err := readStat(pid); err == nil {
			fresh = append(fresh, s)
		}
	}
	for pid := range f.members {
		if !there[pid] {
			delete(f.members, pid)
		}
	}
	for pid := range f.strangers {
		if !there[pid] {
			delete(f.strangers, pid)
		}
	}
	slices.SortFunc(fresh, processStat.compare)
	return fresh
}

// begets tells whether a process that is new belongs to the family.
func (f *family) begets(s processStat) bool {
	if parent := f.members[s.parent]; parent != nil {
		return !parent.given
	}
	if s.group != f.group || s.compare(f.began) < 0 || slices.Contains(f.outer[:], s.parent) {
		return false
	}
	// An orphan, whose parent began and ended between two looks.
	if s.parent == 1 {
		return true
	}
	parent, err := readStat(s.parent)
	return err == nil && parent.group != f.group
}

// examine tells whether a member runs another program than before. What was given is not examined.
func (f *family) examine(m *member) bool {
	if m.given {
		return false
	}
	path := executableOf(m.pid, "")
	now, err := imageOf(path)
	if m.pid == f.root && now == f.own {
		return false // launched by us just now, it has not executed its program yet
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
		if kind, err = readKind(path, now); err != nil {
			return false // it executes another program just now
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

func imageOf(path string) (image, error) {
	var s unix.Stat_t
	err := unix.Stat(path, &s)
	return image{uint64(s.Dev), s.Ino, s.Size, s.Mtim}, err
}

// readKind looks at a process's executable, which is to be the image.
func readKind(path string, i image) (programKind, error) {
	f, err := os.Open(path)
	if err != nil {
		return otherProgram, err
	}
	defer f.Close()
	path = fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if now, err := imageOf(path); err != nil || now != i {
		return otherProgram, errors.New("the process runs another program by now")
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

// again makes the next look examine a member that was given.
func (f *family) again(pid int) {
	if m := f.members[pid]; m != nil {
		m.given, m.image = false, image{}
	}
}

// scripting tells whether parts of a script go on whose first process has ended: subshells, and processes that have not
// yet executed their program.
func (f *family) scripting() bool {
	if f.script == (image{}) {
		return false
	}
	for pid, m := range f.members {
		if pid == f.root || m.given || m.kind != otherProgram || m.image != f.script {
			continue
		}
		if f.runs(pid) {
			return true
		}
	}
	return false
}

// runs tells whether a process is there and no zombie.
func (*family) runs(pid int) bool {
	state := stateOf(pid)
	return state != 0 && state != 'Z' && state != 'X'
}

// A processStat is what is needed of /proc/PID/stat.
type processStat struct {
	pid, parent, group int
	state              byte
	start              uint64 // ticks since the machine did
}

func readStat(pid int) (processStat, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return processStat{}, err
	}
	// The command stands in parentheses and may hold anything, parentheses and blanks included.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 20 || len(f[0]) != 1 {
		return processStat{}, fmt.Errorf("/proc/%d/stat has %d fields: is /proc that of Linux?", pid, len(f)+2)
	}
	s := processStat{pid: pid, state: f[0][0]}
	s.parent, _ = strconv.Atoi(f[1])
	s.group, _ = strconv.Atoi(f[2])
	s.start, err = strconv.ParseUint(f[19], 10, 64)
	return s, err
}

// compare orders processes as they began; the ticks are long.
func (s processStat) compare(t processStat) int {
	return cmp.Or(cmp.Compare(s.start, t.start), cmp.Compare(s.pid, t.pid))
}
