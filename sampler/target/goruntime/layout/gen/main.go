// Gen writes the table of the Go runtime's struct layouts by
// release and processor. From the top of the repository:
//
//	go run ./sampler/target/goruntime/layout/gen go1.28.0
//
// adds a release to the table, or reads it again, and keeps the
// others. The go command fetches its toolchain (70 MB) into a
// module cache that is emptied afterwards, builds a tiny program
// for each processor, and the program's DWARF has the layouts:
// 20 seconds. An argument can also be an executable with DWARF
// that such a release has built.
//
//	-missing    adds every release from go1.21.0 on that the table does not have
//	-all        reads every release again, gigabytes, as is needed when package layout comes to know another field
//	-between    fetches nothing: completes releases that were read without a new field, from those before and after that agree
//	-rewrite    fetches nothing: only takes the fields out of the table that package layout does not have any more
//
// The table is written after each release, so that -missing
// continues after an interruption.
package main

import (
	"bytes"
	"debug/buildinfo"
	"debug/elf"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

// arches are the processors that the table covers.
var arches = []string{"amd64", "arm64"}

func main() {
	out := flag.String("o", "sampler/target/goruntime/layout/layouts.json", "table to add to")
	absent := flag.Bool("missing", false, "add every release that the table does not have")
	all := flag.Bool("all", false, "read every release again")
	rewrite := flag.Bool("rewrite", false,
		"only take out the fields that package layout does not have")
	between := flag.Bool("between", false,
		"complete releases from those before and after that agree")
	flag.Parse()
	if !*absent && !*all && !*rewrite && !*between && flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr,
			"gen: name a release to add, such as go1.28.0, or give -missing, -all, -between or -rewrite")
		os.Exit(2)
	}
	if err := run(*out, *absent || *all, *all, *between, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run adds what args name to the table, completes it if between
// is set, and if list is set, the releases that exist: those
// that the table does not have, or all of them.
func run(out string, list, all, between bool, args []string) error {
	t, err := readTable(out)
	if err != nil {
		return err
	}
	t.Prune()
	if between {
		t.FillBetween()
	}
	if list {
		more, err := releases(t, all)
		if err != nil {
			return err
		}
		args = append(args, more...)
	}
	if err := write(t, out); err != nil {
		return err
	}
	for _, a := range args {
		if strings.ContainsRune(a, filepath.Separator) {
			err = addFile(t, a)
		} else {
			err = addRelease(t, "go"+strings.TrimPrefix(a, "go"))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", a, err)
		}
		if err := write(t, out); err != nil {
			return err
		}
	}
	return nil
}

func write(t *layout.Table, path string) error {
	var b bytes.Buffer
	if err := t.Write(&b); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// releases lists the releases of Go that the table does not
// have, or all of them.
func releases(t *layout.Table, all bool) ([]string, error) {
	text, err := exec.Command("go", "list", "-m", "-versions", "golang.org/toolchain").Output()
	if err != nil {
		return nil, fmt.Errorf("listing the releases of Go: %w", err)
	}
	// The proxy lists only what somebody fetched, so the newest
	// of a line stands for all that came before it.
	newest := map[int]int{}
	for _, v := range strings.Fields(string(text)) {
		name, ok := strings.CutSuffix(strings.TrimPrefix(v, "v0.0.1-"), ".linux-amd64")
		r, exact, err := goruntime.ParseRelease(name)
		if ok && exact && err == nil && r.Line >= goruntime.OldestLine {
			newest[r.Line] = max(newest[r.Line], r.Patch)
		}
	}
	var names []string
	for _, line := range slices.Sorted(maps.Keys(newest)) {
		for patch := range newest[line] + 1 {
			r := goruntime.Release{Line: line, Patch: patch}
			has := !slices.ContainsFunc(arches, func(arch string) bool { return !t.Has(r, arch) })
			if all || !has {
				names = append(names, r.String())
			}
		}
	}
	return names, nil
}

func readTable(path string) (*layout.Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return layout.ReadTable(f)
}

// addFile adds the layout that an executable describes.
func addFile(t *layout.Table, path string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	r, exact, err := goruntime.ParseRelease(info.GoVersion)
	if err != nil {
		return err
	}
	if !exact {
		return fmt.Errorf("linked by %s, which is not a release", info.GoVersion)
	}
	f, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	l, err := layout.FromELF(f)
	if err != nil {
		return fmt.Errorf("%w: see \"Supporting a new Go\" in CONTRIBUTING.md", err)
	}
	arch := goruntime.ArchOf(f.Machine)
	t.Add(r, arch, l)
	fmt.Println(r, arch)
	return nil
}

// program uses what makes the linker keep the structs' descriptions.
const program = `package main

import (
	"runtime"
	"sync"
	"time"
)

func main() {
	var mu sync.Mutex
	c := make(chan int)
	go func() {
		mu.Lock()
		defer mu.Unlock()
		c <- 1
	}()
	select {
	case <-c:
	case <-time.After(time.Millisecond):
	}
	mu.Lock()
	runtime.GC()
}
`

// addRelease builds the program with a release and adds its layouts.
func addRelease(t *layout.Table, release string) error {
	dir, err := os.MkdirTemp("", "layouts")
	if err != nil {
		return err
	}
	defer removeAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module tiny\n\ngo 1.21\n"),
		0o644); err != nil {
		return err
	}
	for _, arch := range arches {
		bin := filepath.Join(dir, arch)
		cmd := exec.Command("go", "build", "-o", bin, ".")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+release, "GOOS=linux", "GOARCH="+arch,
			"CGO_ENABLED=0", "GOFLAGS=-modcacherw",
			"GOMODCACHE="+filepath.Join(dir, "mod"), "GOCACHE="+filepath.Join(dir, "cache"))
		if msg, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building: %w\n%s", err, msg)
		}
		if err := addFile(t, bin); err != nil {
			return err
		}
	}
	return nil
}

// removeAll removes a directory with what is write-protected in it, as
// toolchains are.
func removeAll(dir string) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			os.Chmod(path, 0o755)
		}
		return nil
	})
	os.RemoveAll(dir)
}
