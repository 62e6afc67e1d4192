//go:build unix

package files

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Open doesn't wait for a pipe without a writer, and doesn't
// read a device.
func TestPipesAndDevices(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	fixture.Check(t, syscall.Mkfifo(pipe, 0o600))
	for path, want := range map[string]string{pipe: "it is a pipe, not", "/dev/zero": "it is a device, not"} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
