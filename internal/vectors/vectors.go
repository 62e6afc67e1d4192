// Package vectors finds and reads the test vectors of the
// project's definitions: JSON files in testdata/vectors, and
// those in the folder that the environment variable
// CPPROF_VECTORS names. Only tests import it.
package vectors

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// Env names the environment variable that names a folder of further vectors.
const Env = "CPPROF_VECTORS"

// Files returns the vector files whose base names match pattern
// (as in path/filepath.Match): first those in the module's
// testdata/vectors, then those in the folder that Env names, if
// it is set. If a folder has none, the test fails: a test must
// not pass because it found no vectors.
func Files(t testing.TB, pattern string) []string {
	t.Helper()
	folders := []string{filepath.Join(fixture.Root(), "testdata", "vectors")}
	if more := os.Getenv(Env); more != "" {
		if !filepath.IsAbs(more) {
			more = filepath.Join(fixture.Root(), more)
		}
		folders = append(folders, more)
	}
	var files []string
	for _, folder := range folders {
		found, err := in(folder, pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}

func in(folder, pattern string) ([]string, error) {
	found, err := filepath.Glob(filepath.Join(folder, pattern))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no %s in %s", pattern, folder)
	}
	if err != nil {
		return nil, fmt.Errorf("searching for vectors: %w", err)
	}
	return found, nil
}

// Decode reads one vector file; a field that into does not have
// fails the test.
func Decode(t testing.TB, file string, into any) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatalf("reading vectors: %v", err)
	}
	defer f.Close()
	if err := Read(f, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// Read reads one JSON value and nothing after it, strictly:
// unknown fields are errors.
func Read(r io.Reader, into any) error {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("reading vectors: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("reading vectors: something follows the value at byte %d",
			d.InputOffset())
	}
	return nil
}
