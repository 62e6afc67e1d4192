//go:build matrix && linux && (amd64 || arm64)

package monitor

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// TestMatrix compares the statistics of programs that several
// releases of Go built, with and without debug information:
//
//	go test -tags matrix -run TestMatrix ./sampler/monitor
//
// The go command downloads the toolchains, some 70 MB each.
func TestMatrix(t *testing.T) {
	src := fixture.Must(os.ReadFile(filepath.Join(fixture.Root(), "testdata/programs/statistics/main.go")))(t)
	for _, version := range []string{"go1.21.13", "go1.22.12", "go1.23.12", "go1.24.6", "go1.25.14", "go1.26.8", "go1.27.4"} {
		for mode, flag := range map[string]string{"plain": "-ldflags=", "stripped": "-ldflags=-s -w", "PIE": "-buildmode=pie"} {
			t.Run(version+"/"+mode, func(t *testing.T) {
				dir := t.TempDir()
				for name, text := range map[string]string{"main.go": string(src), "go.mod": "module target\n\ngo 1.21\n"} {
					fixture.Check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
				}
				cmd := exec.Command("go", "build", "-o", "program", flag)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOTOOLCHAIN="+version)
				if text, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				compareRuntime(t, filepath.Join(dir, "program"))
			})
		}
	}
}
