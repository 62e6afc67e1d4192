//go:build matrix && linux && (amd64 || arm64)

package snapshot

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// TestMatrixHolders checks the reported holders of locks in
// programs built by each version of Go; see TestMatrix.
func TestMatrixHolders(t *testing.T) {
	eachVersion(t, "holders", strippedToo, func(t *testing.T, path string) { judged(t, judgeHolders(t, path, 100)) })
}

// TestMatrixHandover checks the reported holders of locks that
// are being handed over, likewise.
func TestMatrixHandover(t *testing.T) {
	eachVersion(t, "holders", strippedToo, func(t *testing.T, path string) { judgedHandover(t, judgeConvoy(t, path, 200)) })
}

// TestMatrixGroups checks for whom goroutines are reported to
// wait that wait for groups and conditions, likewise.
func TestMatrixGroups(t *testing.T) { eachVersion(t, "groups", strippedToo, checkGroups) }

// TestMatrixContended checks the locks that goroutines are
// reported to wait for, however short the wait.
func TestMatrixContended(t *testing.T) { eachVersion(t, "contended", strippedToo, checkContended) }

// TestMatrixLockNames checks the names of locks, by DWARF 4 up
// to Go 1.24 and DWARF 5 from Go 1.25 on.
func TestMatrixLockNames(t *testing.T) {
	eachVersion(t, "locknames", map[string][]string{
		"plain": nil, "pie": {"-buildmode=pie"}, "not-optimised": {"-gcflags=all=-N -l"},
	}, checkLockNames)
}

// strippedToo are ways to build a program: as usual, without
// symbols and debug information, and without optimisation.
var strippedToo = map[string][]string{
	"plain": nil, "pie-stripped": {"-buildmode=pie", "-ldflags=-s -w"}, "not-optimised": {"-gcflags=-N -l"},
}

// eachVersion calls check for a program of testdata/programs,
// built by each version of Go in each way.
func eachVersion(t *testing.T, program string, ways map[string][]string, check func(t *testing.T, path string)) {
	dir := os.Getenv("CPPROF_MATRIX")
	if dir == "" {
		dir = t.TempDir()
	}
	source := t.TempDir()
	fixture.Check(t, os.CopyFS(source, os.DirFS(filepath.Join(fixture.Root(), "testdata", "programs", program))))
	write(t, filepath.Join(source, "go.mod"), []byte("module "+program+"\n\ngo 1.21\n"))
	for _, version := range versions(t) {
		for name, flags := range ways {
			t.Run(version+"/"+name, func(t *testing.T) {
				path := filepath.Join(dir, version+"-"+program+"-"+name)
				if _, err := os.Stat(path); err != nil {
					cmd := exec.Command("go", append([]string{"build", "-o", path}, flags...)...)
					cmd.Dir, cmd.Env = source, append(os.Environ(), "GOTOOLCHAIN="+version, "CGO_ENABLED=0")
					if text, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("%v\n%s", err, text)
					}
				}
				check(t, path)
			})
		}
	}
}
