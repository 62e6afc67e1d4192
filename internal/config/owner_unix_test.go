//go:build unix

package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A config file that is not a regular file is refused at once.
func TestDevicesAreNoConfig(t *testing.T) {
	if _, err := Load("/dev/zero"); err == nil || !strings.Contains(err.Error(), "reading config: open /dev/zero: it is a device, not a regular file") {
		t.Errorf("/dev/zero: %v", err)
	}
}

// A config file of another user is ignored above the working
// folder, but read in the working folder.
func TestFilesOfOthersAreNotFound(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to others")
	}
	top := t.TempDir()
	below := filepath.Join(top, "others", "below")
	fixture.Check(t, os.MkdirAll(below, 0o755))
	own, foreign := filepath.Join(top, Name), filepath.Join(top, "others", Name)
	for _, path := range []string{own, foreign} {
		fixture.Check(t, os.WriteFile(path, nil, 0o644))
	}
	fixture.Check(t, os.Chown(foreign, 4711, 4711))
	got, ignored, err := Find(below)
	if err != nil || got != own || !slices.Equal(ignored, []string{foreign}) {
		t.Errorf("from below: found %q, ignored %q, %v", got, ignored, err)
	}
	got, ignored, err = Find(filepath.Dir(foreign))
	if err != nil || got != foreign || len(ignored) > 0 {
		t.Errorf("in the folder itself: found %q, ignored %q, %v", got, ignored, err)
	}
}
