//go:build linux

package learned

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
)

func open(t *testing.T) *Store {
	t.Helper()
	return fixture.Must(Open(filepath.Join(t.TempDir(), "learned")))(t)
}

func TestStore(t *testing.T) {
	s := open(t)
	a, b := KeyOf("a", "b"), KeyOf("ab", "")
	if a == b {
		t.Fatal("keys of different programs are equal")
	}
	if s.Load(a) != nil {
		t.Error("something was there")
	}
	for _, data := range []string{"first", "second", ""} {
		fixture.Check(t, s.Save(a, []byte(data)))
		if got := s.Load(a); got == nil || string(got) != data {
			t.Errorf("got %q, want %q", got, data)
		}
	}
	if s.Load(b) != nil {
		t.Error("another program has it, too")
	}
	if err := s.Save(b, make([]byte, MaxSize+1)); err == nil || s.Load(b) != nil {
		t.Error("too much was saved")
	}
	if files, _ := os.ReadDir(s.dir); len(files) != 1 {
		t.Errorf("%d files", len(files))
	}
}

// A file that is damaged, or that others can write to, counts as none.
func TestUnusableFiles(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"cut off": func(t *testing.T, path string) { fixture.Check(t, os.Truncate(path, 20)) },
		"empty":   func(t *testing.T, path string) { fixture.Check(t, os.Truncate(path, 0)) },
		"changed": func(t *testing.T, path string) {
			b := fixture.Must(os.ReadFile(path))(t)
			b[3]++
			fixture.Check(t, os.WriteFile(path, b, 0o600))
		},
		"too large":       func(t *testing.T, path string) { fixture.Check(t, os.Truncate(path, 2*MaxSize)) },
		"others write it": func(t *testing.T, path string) { fixture.Check(t, os.Chmod(path, 0o666)) },
		"a link": func(t *testing.T, path string) {
			fixture.Check(t, os.Rename(path, path+"2"))
			fixture.Check(t, os.Symlink(path+"2", path))
		},
		"a folder": func(t *testing.T, path string) {
			fixture.Check(t, os.Remove(path))
			fixture.Check(t, os.Mkdir(path, 0o700))
		},
	} {
		s := open(t)
		fixture.Check(t, s.Save("key", bytes.Repeat([]byte("data"), 10)))
		if s.Load("key") == nil {
			t.Fatal("nothing was saved")
		}
		spoil(t, s.path("key"))
		if s.Load("key") != nil {
			t.Errorf("%s: it was used", name)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	fixture.Check(t, os.Chmod(dir, 0o777))
	if _, err := Open(dir); err == nil {
		t.Error("a folder that others can write to was accepted")
	}
	link := filepath.Join(t.TempDir(), "link")
	fixture.Check(t, os.Symlink(t.TempDir(), link))
	if _, err := Open(link); err == nil {
		t.Error("a link was accepted")
	}
}

// Files that were not used for long are removed, and the oldest
// of too many.
func TestPrune(t *testing.T) {
	s := open(t)
	now := time.Now()
	const each = MaxSize / 2
	for i := range 20 {
		key := KeyOf(string(rune('a' + i)))
		fixture.Check(t, s.Save(key, make([]byte, each)))
		at := now.Add(-time.Duration(i) * time.Hour)
		if i == 1 {
			at = now.Add(-maxAge - time.Hour)
		}
		fixture.Check(t, os.Chtimes(s.path(key), at, at))
	}
	fixture.Check(t, s.prune(now))
	if s.Load(KeyOf("b")) != nil {
		t.Error("an old file was kept")
	}
	if s.Load(KeyOf("a")) == nil {
		t.Error("the latest file was removed")
	}
	size := int64(0)
	files, _ := os.ReadDir(s.dir)
	for _, f := range files {
		info := fixture.Must(f.Info())(t)
		size += info.Size()
	}
	if size > maxAll || size < maxAll-2*each {
		t.Errorf("%d bytes are kept, want about %d", size, maxAll)
	}
}
