package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestOpen(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	fixture.Check(t, os.WriteFile(path, nil, 0o600))
	for _, path := range []string{path, folder} {
		f := fixture.Must(Open(path))(t)
		f.Close()
	}
	if _, err := Open(path + "2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that isn't there: %v", err)
	}
}
