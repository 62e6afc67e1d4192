package session

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// If a recording and the one that it is compared with are moved
// together, the stored path still finds the other one.
func TestOther(t *testing.T) {
	before := t.TempDir()
	for _, name := range []string{"a.cpprof", "b.cpprof"} {
		fixture.Check(t, os.Mkdir(filepath.Join(before, name), 0o777))
	}
	fixture.Check(t, os.WriteFile(filepath.Join(before, "file"), nil, 0o666))
	for recording, want := range map[string]string{"a.cpprof": "../b.cpprof", "file": "b.cpprof"} {
		w := Comparison{Against: Relative(filepath.Join(before, recording), filepath.Join(before, "b.cpprof"))}
		if w.Against != want {
			t.Errorf("relative to %s it is %q, want %q", recording, w.Against, want)
		}
		if got, want := w.Other(filepath.Join(before, recording)), filepath.Join(before, "b.cpprof"); got != want {
			t.Errorf("from %s it is found as %q, want %q", recording, got, want)
		}
	}
	if got := (&Comparison{Against: before}).Other("a.cpprof"); got != before {
		t.Errorf("the absolute path %s becomes %s", before, got)
	}
}
