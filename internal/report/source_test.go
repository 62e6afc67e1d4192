package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// The file name in a recording is used only for source code.
func TestOnlySourceIsRead(t *testing.T) {
	folder := t.TempDir()
	secret := filepath.Join(folder, "secret.txt")
	fixture.Check(t, os.WriteFile(secret, []byte("secret"), 0o666))
	fixture.Check(t, os.Mkdir(filepath.Join(folder, "folder.go"), 0o777))
	large := filepath.Join(folder, "large.go")
	fixture.Check(t, os.WriteFile(large, nil, 0o666))
	fixture.Check(t, os.Truncate(large, maxSource+1))
	for _, name := range []string{"", secret, "relative.go", filepath.Join(folder, "folder.go"), filepath.Join(folder, "none.go"), large, "/dev/zero"} {
		if lines, err := sourceText(name); err == nil || lines != nil {
			t.Errorf("%s is taken for source: %q, %v", name, lines, err)
		}
	}
}
