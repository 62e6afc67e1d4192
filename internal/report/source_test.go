package report

import (
	"os"
	"path/filepath"
	"testing"
)

// The file name in a recording is used only for source code.
func TestOnlySourceIsRead(t *testing.T) {
	folder := t.TempDir()
	secret := filepath.Join(folder, "secret.txt")
	if err := os.WriteFile(secret, []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "folder.go"), 0o777); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(folder, "large.go")
	if err := os.WriteFile(large, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, maxSource+1); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", secret, "relative.go", filepath.Join(folder, "folder.go"), filepath.Join(folder, "none.go"), large, "/dev/zero"} {
		if lines, err := sourceText(name); err == nil || lines != nil {
			t.Errorf("%s is taken for source: %q, %v", name, lines, err)
		}
	}
}
