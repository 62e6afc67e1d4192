//go:build linux

package sampler

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/halt"
)

// Programs of the toolchain are recognised by their build
// information, not by their names.
func TestToolchain(t *testing.T) {
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	link := filepath.Join(t.TempDir(), "server")
	if err := os.Symlink(goCommand, link); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]bool{goCommand: true, link: true, "/proc/self/exe": false} {
		e, err := ReadExecutable(path)
		if err != nil || e.Toolchain != want {
			t.Errorf("%s: %+v, %v", path, e, err)
		}
	}
}

// The search ends when the command has ended without having started anything.
func TestSearchEnds(t *testing.T) {
	for _, command := range []string{"true", "sleep 0.2", "(sleep 0.2) & true"} {
		cmd := exec.Command("sh", "-c", command)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // no orphans of other tests
		root, err := LaunchCommand(cmd)
		if err != nil {
			t.Skip(err)
		}
		defer root.Release()
		f := fixture.Must(newProgramFinder(root, ProgramFilter{Children: true}))(t)
		for p := range f.programs(t.Context()) {
			t.Errorf("sh -c %q started %s", command, p.Name)
			p.Release()
		}
		if len(f.seen) > 0 || f.refused != nil {
			t.Errorf("sh -c %q: saw %v, %v", command, f.seen, f.refused)
		}
	}
}

// A command may have ended before the search for its family
// begins. Its process group is known even then, and it is not
// this process's.
func TestFamilyOfAnEndedCommand(t *testing.T) {
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	root, err := LaunchCommand(cmd)
	if err != nil {
		t.Skip(err)
	}
	defer root.Release()
	<-root.Done()
	f := fixture.Must(newFamily(root, true))(t)
	if f.group != root.PID || f.began.PID != root.PID {
		t.Errorf("group %d, begun by %d, want %d for both", f.group, f.began.PID, root.PID)
	}
	f.findChanged(ProgramFilter{Children: true})
	orphan := halt.Stat{PID: root.PID + 1, Parent: 1, Group: f.group, Start: f.began.Start + 1}
	if f.isMember(orphan) {
		t.Error("an orphan that began when no member of the family was left counts as one")
	}
}

// The parent and the process group decide whether a new process
// is a member of the family.
func TestFamily(t *testing.T) {
	f := &family{
		group: 10, began: halt.Stat{PID: 10, Start: 50}, outer: [2]int{3, 4},
		members: map[int]*member{10: {pid: 10}, 12: {pid: 12, reported: true}},
	}
	for name, c := range map[string]struct {
		s    halt.Stat
		want bool
	}{
		"child":                           {halt.Stat{PID: 13, Parent: 10, Group: 13, Start: 60}, true},
		"child of a recorded program":     {halt.Stat{PID: 13, Parent: 12, Group: 10, Start: 60}, false},
		"orphan":                          {halt.Stat{PID: 13, Parent: 1, Group: 10, Start: 50}, true},
		"orphan of the same tick, before": {halt.Stat{PID: 9, Parent: 1, Group: 10, Start: 50}, false},
		"older orphan":                    {halt.Stat{PID: 13, Parent: 1, Group: 10, Start: 49}, false},
		"orphan of another group":         {halt.Stat{PID: 13, Parent: 1, Group: 11, Start: 60}, false},
		"neighbour in a pipeline":         {halt.Stat{PID: 13, Parent: 4, Group: 10, Start: 60}, false},
	} {
		if got := f.isMember(c.s); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
