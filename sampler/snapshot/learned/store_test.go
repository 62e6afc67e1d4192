//go:build linux

package learned

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "learned"))
	if err != nil {
		t.Fatal(err)
	}
	return s
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
		if err := s.Save(a, []byte(data)); err != nil {
			t.Fatal(err)
		}
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
		"cut off": func(t *testing.T, path string) { check(t, os.Truncate(path, 20)) },
		"empty":   func(t *testing.T, path string) { check(t, os.Truncate(path, 0)) },
		"changed": func(t *testing.T, path string) {
			b, err := os.ReadFile(path)
			check(t, err)
			b[3]++
			check(t, os.WriteFile(path, b, 0o600))
		},
		"too large":       func(t *testing.T, path string) { check(t, os.Truncate(path, 2*MaxSize)) },
		"others write it": func(t *testing.T, path string) { check(t, os.Chmod(path, 0o666)) },
		"a link": func(t *testing.T, path string) {
			check(t, os.Rename(path, path+"2"))
			check(t, os.Symlink(path+"2", path))
		},
		"a folder": func(t *testing.T, path string) {
			check(t, os.Remove(path))
			check(t, os.Mkdir(path, 0o700))
		},
	} {
		s := open(t)
		check(t, s.Save("key", bytes.Repeat([]byte("data"), 10)))
		if s.Load("key") == nil {
			t.Fatal("nothing was saved")
		}
		spoil(t, s.path("key"))
		if s.Load("key") != nil {
			t.Errorf("%s: it was used", name)
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	check(t, os.Chmod(dir, 0o777))
	if _, err := Open(dir); err == nil {
		t.Error("a folder that others can write to was accepted")
	}
	link := filepath.Join(t.TempDir(), "link")
	check(t, os.Symlink(t.TempDir(), link))
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
		check(t, s.Save(key, make([]byte, each)))
		at := now.Add(-time.Duration(i) * time.Hour)
		if i == 1 {
			at = now.Add(-maxAge - time.Hour)
		}
		check(t, os.Chtimes(s.path(key), at, at))
	}
	check(t, s.prune(now))
	if s.Load(KeyOf("b")) != nil {
		t.Error("an old file was kept")
	}
	if s.Load(KeyOf("a")) == nil {
		t.Error("the latest file was removed")
	}
	size := int64(0)
	files, _ := os.ReadDir(s.dir)
	for _, f := range files {
		info, err := f.Info()
		check(t, err)
		size += info.Size()
	}
	if size > maxAll || size < maxAll-2*each {
		t.Errorf("%d bytes are kept, want about %d", size, maxAll)
	}
}
