//go:build linux

package sampler

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The toolchain's own programs are told from others by what is written in them, not by their names.
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

// A command that has ended, and started nothing, ends what follows it.
func TestFollowEnds(t *testing.T) {
	for _, command := range []string{"true", "sleep 0.2", "(sleep 0.2) & true"} {
		root, err := LaunchCommand(exec.Command("sh", "-c", command))
		if err != nil {
			t.Skip(err)
		}
		defer root.Release()
		f, err := Follow(root, FollowOptions{Children: true})
		if err != nil {
			t.Fatal(err)
		}
		for p := range f.Programs(t.Context()) {
			t.Errorf("sh -c %q started %s", command, p.Name)
			p.Release()
		}
		if seen := f.Seen(); len(seen) > 0 || f.Refused() != nil {
			t.Errorf("sh -c %q: saw %q, %v", command, seen, f.Refused())
		}
	}
}

// What a process's parent and group say of where it belongs.
func TestFamily(t *testing.T) {
	f := &family{
		group: 10, began: processStat{pid: 10, start: 50}, outer: [2]int{3, 4},
		members: map[int]*member{10: {pid: 10}, 12: {pid: 12, given: true}},
	}
	for name, c := range map[string]struct {
		s    processStat
		want bool
	}{
		"child":                           {processStat{pid: 13, parent: 10, group: 13, start: 60}, true},
		"child of a recorded program":     {processStat{pid: 13, parent: 12, group: 10, start: 60}, false},
		"orphan":                          {processStat{pid: 13, parent: 1, group: 10, start: 50}, true},
		"orphan of the same tick, before": {processStat{pid: 9, parent: 1, group: 10, start: 50}, false},
		"older orphan":                    {processStat{pid: 13, parent: 1, group: 10, start: 49}, false},
		"orphan of another group":         {processStat{pid: 13, parent: 1, group: 11, start: 60}, false},
		"neighbour in a pipeline":         {processStat{pid: 13, parent: 4, group: 10, start: 60}, false},
	} {
		if got := f.begets(c.s); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
