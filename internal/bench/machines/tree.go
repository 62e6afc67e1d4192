//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// A tree is the files of a machine, by their paths.
type tree map[string][]byte

// addFolder adds the files of a folder.
func (t tree) addFolder(as, dir string) error {
	return fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			t[path.Join(as, name)], err = os.ReadFile(filepath.Join(dir, name))
		}
		return err
	})
}

// write writes the tree as the archive that Linux unpacks when
// it boots (cpio's new format).
func (t tree) write(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	folders := map[string]bool{".": true}
	number := 0
	entry := func(name string, mode int, content []byte) {
		number++
		head := fmt.Sprintf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
			number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name)+1, 0, name)
		w.WriteString(head)
		w.Write(make([]byte, -len(head)&3))
		w.Write(content)
		w.Write(make([]byte, -len(content)&3))
	}
	var addFolder func(dir string)
	addFolder = func(dir string) {
		if !folders[dir] {
			folders[dir] = true
			addFolder(path.Dir(dir))
			entry(dir, 0o040755, nil)
		}
	}
	for _, name := range append(slices.Sorted(maps.Keys(t)), "proc/", "sys/", "dev/", "tmp/") {
		addFolder(path.Dir(name))
		if content, ok := t[name]; ok {
			entry(name, 0o100755, content)
		}
	}
	entry("TRAILER!!!", 0, nil)
	return w.Flush()
}

// addSources adds what tests read of the module.
func (t tree) addSources() error {
	for _, path := range []string{"testdata/programs", "sampler/snapshot/testdata", "sampler/target/goruntime/layout"} {
		if err := t.addFolder("src/"+path, filepath.FromSlash(path)); err != nil {
			return err
		}
	}
	var err error
	t["src/go.mod"], err = os.ReadFile("go.mod")
	return err
}
