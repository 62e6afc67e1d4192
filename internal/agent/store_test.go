package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

// fill adds a recording of some bytes to a store.
func fill(t *testing.T, s *Store, k Kept, bytes int) Kept {
	t.Helper()
	path := NewPath(s.dir, k.PID)
	err := os.Mkdir(path, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(path, "SampleData"), make([]byte, bytes), 0o600)
	}
	if err == nil {
		k, err = s.add(path, k)
	}
	fixture.Check(t, err)
	return k
}

func names(s *Store) string {
	text := ""
	for _, k := range s.all(func(Kept) bool { return true }) {
		text += " " + k.Reason
	}
	return strings.TrimSpace(text)
}

// A store has the latest recordings of each program. If space is
// short, it drops recordings of ends first.
func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	s := fixture.Must(OpenStore(dir, 2, 900))(t)
	at := time.Unix(1_700_000_000, 0)
	for i := range 4 {
		fill(t, s, Kept{Program: "/bin/a", PID: 7, Reason: fmt.Sprint("a", i), At: at.Add(time.Duration(i))}, 100)
		fill(t, s, Kept{Program: "/bin/a", PID: 7, Reason: fmt.Sprint("end", i), End: true, At: at.Add(time.Duration(i))}, 100)
	}
	if got := names(s); got != "end3 a3 end2 a2" {
		t.Errorf("it has %s", got)
	}
	odd := fill(t, s, Kept{Program: "/bin/.. /\n<b>\"é", PID: 8, Reason: "odd", At: at.Add(5)}, 500)
	if want := "__b___-8-" + at.Format("20060102-150405") + ".cpprof"; odd.Name != want {
		t.Errorf("it is called %q, want %q", odd.Name, want)
	}
	fill(t, s, Kept{Program: "/bin/c", PID: 9, Reason: "c", At: at.Add(6)}, 100)
	if got := names(s); got != "c odd end3 a3 a2" {
		t.Errorf("it has %s", got)
	}
	fill(t, s, Kept{Program: "/bin/d", PID: 9, Reason: "large", At: at.Add(7)}, 2000)
	if got := names(s); got != "large" {
		t.Errorf("it has %s", got)
	}
	if _, err := OpenStore(dir, 2, 900); err == nil || !strings.Contains(err.Error(), "another agent uses") {
		t.Errorf("a second agent: %v", err)
	}
	left := NewPath(dir, 3)
	fixture.Check(t, os.Mkdir(left, 0o700))
	s.Close()
	s = fixture.Must(OpenStore(dir, 2, 900))(t)
	defer s.Close()
	if got := names(s); got != "large" {
		t.Errorf("opened again, it has %s", got)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("what was not finished is left: %v", err)
	}
}
