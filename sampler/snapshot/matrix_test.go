//go:build matrix && linux && (amd64 || arm64)

package snapshot

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

var matrixFirst = flag.Bool("first", false, "the matrix has the first release of each line of Go, too, and not only the last")

// versions returns the releases of the matrix, oldest first.
func versions(t *testing.T) []string {
	t.Helper()
	f := fixture.Must(os.Open("../target/goruntime/layout/layouts.json"))(t)
	defer f.Close()
	table := fixture.Must(layout.ReadTable(f))(t)
	var list []string
	all := table.Releases(runtime.GOARCH)
	for i, r := range all {
		last := i == len(all)-1 || all[i+1].Line != r.Line
		if last || r.Patch == 0 && *matrixFirst {
			list = append(list, r.String())
		}
	}
	return list
}

// TestMatrix samples programs as each version of Go links them
// in each way:
//
//	go test -v -tags matrix -run Matrix -timeout 1h ./sampler/snapshot
//
// The go command downloads the toolchains (GOTOOLCHAIN), some 70
// MB each, to the module cache. If CPPROF_MATRIX names a folder,
// the built programs are kept there.
func TestMatrix(t *testing.T) {
	dir := os.Getenv("CPPROF_MATRIX")
	if dir == "" {
		dir = t.TempDir()
	}
	src := fixture.Must(os.ReadFile("testdata/target/main.go"))(t)
	c := fixture.Must(os.ReadFile("testdata/target/c.txt"))(t)
	green := 0
	for _, version := range versions(t) {
		for _, mode := range []struct {
			name  string
			cgo   bool
			flags []string
		}{
			{"plain", false, nil},
			{"w", false, []string{"-ldflags=-w"}},
			{"stripped", false, []string{"-ldflags=-s -w"}},
			{"pie", false, []string{"-buildmode=pie"}},
			{"pie-stripped", false, []string{"-buildmode=pie", "-ldflags=-s -w"}},
			{"cgo", true, nil},
			{"cgo-stripped", true, []string{"-ldflags=-s -w"}},
		} {
			t.Run(version+"/"+mode.name, func(t *testing.T) {
				source := filepath.Join(t.TempDir(), "src")
				write(t, filepath.Join(source, "main.go"), src)
				write(t, filepath.Join(source, "go.mod"), []byte("module target\n\ngo 1.21\n"))
				cgo := "CGO_ENABLED=0"
				if mode.cgo {
					cgo = "CGO_ENABLED=1"
					write(t, filepath.Join(source, "c.go"), c)
				}
				path := filepath.Join(dir, version+"-"+mode.name)
				if _, err := os.Stat(path); err != nil {
					cmd := exec.Command("go", append([]string{"build", "-o", path}, mode.flags...)...)
					cmd.Dir, cmd.Env = source, append(os.Environ(), "GOTOOLCHAIN="+version, cgo)
					if text, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("%v\n%s", err, text)
					}
				}
				checkProgram(t, path)
				if !t.Failed() {
					green++
				}
			})
		}
	}
	t.Logf("%d releases of Go, %d programs sampled as they should be", len(versions(t)), green)
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	fixture.Check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	fixture.Check(t, os.WriteFile(path, text, 0o644))
}
