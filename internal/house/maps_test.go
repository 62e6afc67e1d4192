package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	fileName = regexp.MustCompile(`(^|[^\w/])([a-z_0-9]+\*?\.go)\b`)
	// wholly listed are the packages whose comment names each file
	whollyListed = []string{"why", "sampler/holders", "sampler/holders/syncflow"}
)

// A package's comment is the map of its files: it names none
// that is not there.
func TestPackageCommentsNameFiles(t *testing.T) {
	maps := 0
	err := filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != "doc.go" || strings.Contains(path, "testdata") {
			return err
		}
		folder := filepath.Dir(path)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var listed []string
		for _, m := range fileName.FindAllStringSubmatch(string(text), -1) {
			files, err := filepath.Glob(filepath.Join(folder, m[2]))
			if err != nil || len(files) == 0 {
				t.Errorf("%s names %s, which does not exist", path, m[2])
			}
			listed, maps = append(listed, files...), maps+1
		}
		name, err := filepath.Rel("../..", folder)
		if err != nil || !slices.Contains(whollyListed, filepath.ToSlash(name)) {
			return err
		}
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		for _, f := range files {
			if f != path && !strings.HasSuffix(f, "_test.go") && !slices.Contains(listed, f) {
				t.Errorf("%s does not name %s", path, filepath.Base(f))
			}
		}
		return err
	})
	if err != nil || maps < 100 {
		t.Errorf("%d files are named: %v", maps, err)
	}
}
