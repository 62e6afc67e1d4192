// Package vectors finds and reads the test vectors of the
// project's definitions: JSON files in testdata/vectors, and
// those in the folder that the environment variable
// CPPROF_VECTORS names. Only tests import it.
package vectors

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
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
	own, err := ownFolder()
	if err != nil {
		t.Fatal(err)
	}
	folders := []string{own}
	if more := os.Getenv(Env); more != "" {
		if !filepath.IsAbs(more) {
			more = filepath.Join(own, "..", "..", more)
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
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("searching for vectors: %w", err)
	}
	var found []string
	for _, e := range entries {
		match, err := filepath.Match(pattern, e.Name())
		if err != nil {
			return nil, fmt.Errorf("searching for vectors %q: %w", pattern, err)
		}
		if match && !e.IsDir() {
			found = append(found, filepath.Join(folder, e.Name()))
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("searching for vectors: no %s in %s", pattern, folder)
	}
	return found, nil
}

// ownFolder returns testdata/vectors of the module in which the working
// folder is.
func ownFolder() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("searching for vectors: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "testdata", "vectors"), nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("searching for vectors: no go.mod in the working folder or above")
		}
		dir = up
	}
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
