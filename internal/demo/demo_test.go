package demo

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/callpath"
)

func build(t *testing.T) string {
	t.Helper()
	binary, err := Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

func TestBuild(t *testing.T) {
	// A person's environment does not change what is built.
	t.Setenv("GOFLAGS", "-ldflags=-s")
	t.Setenv("GOOS", "plan9")
	t.Setenv("CGO_ENABLED", "1")
	binary := build(t)
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range info.Settings {
		if s.Key == "-ldflags" || s.Key == "GOOS" && s.Value != runtime.GOOS {
			t.Errorf("built with %s=%s", s.Key, s.Value)
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.DWARF(); err != nil {
		t.Errorf("no debug information: %v", err)
	}
}

func TestBuildErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Build(ctx, t.TempDir()); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled build: %v", err)
	}
	if _, err := Build(t.Context(), filepath.Join(t.TempDir(), "file.go", "\x00")); err == nil {
		t.Error("a folder that can't be passes")
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := Build(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "install Go from https://go.dev/dl") {
		t.Errorf("without Go: %v", err)
	}
}

func TestEndsInTime(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), build(t), "-for", "300ms").CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v, with output %q", err, out)
	}
}

// TestProblemsShow asks the running demo for its goroutines' stacks, until one dump has each problem that a dump
// can show: the disk is between two writes for a fifth of the time, so that the first one usually does.
func TestProblemsShow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGQUIT")
	}
	binary := build(t)
	var dump string
	for range 20 {
		dump = dumpOf(t, binary)
		blocked := matches(dump, `\[sync\.Mutex\.Lock.*\]:\n(?:.*\n)*?main\.\(\*journal\)\.add\(`)
		writing := matches(dump, `os\.\(\*File\)\.Write\((?:.*\n)*?main\.\(\*journal\)\.flush\(`)
		busy := matches(dump, `\[runn(?:able|ing).*\]:\n(?:.+\n)*?main\.(?:intake|publisher)\(`)
		if blocked >= 2 && writing == 1 && busy > 2 {
			return
		}
		t.Logf("%d blocked, %d writing, %d busy", blocked, writing, busy)
	}
	t.Errorf("a lock held over I/O, or too many runnable goroutines, are in no dump; the last:\n%s", dump)
}

func matches(dump, expr string) int {
	n := 0
	for _, g := range strings.Split(dump, "\n\n") {
		if regexp.MustCompile(expr).MatchString(g + "\n") {
			n++
		}
	}
	return n
}

// dumpOf starts the demo, and ends it by the signal that makes it print its stacks.
func dumpOf(t *testing.T, binary string) string {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), binary)
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return out.String()
}

func TestEndsWithStdin(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), build(t), "-for", "10m", "-stdin")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestEndsWithParent starts the demo from a shell that goes away.
func TestEndsWithParent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not tell a process that its parent is gone")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell: ", err)
	}
	// The demo holds the pipe of its output open for as long as it lives.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := exec.CommandContext(t.Context(), sh, "-c", `"$0" -for 10m & sleep 1`, build(t))
	cmd.Stdout = w
	err = cmd.Run()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the demo outlives its parent: %v", err)
	}
}

// TestTruthReads holds the paths of Truth against the notation, the config and the source.
func TestTruthReads(t *testing.T) {
	c, err := aspects.ParseConfig("cpprof.yaml", Config())
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"os.(*File).Write": true}
	for _, f := range functions(t) {
		known[f] = true
	}
	check := func(name string) {
		switch class, isClass := strings.CutPrefix(name, "go:"); {
		case name == "*", name[0] == ':', known[name], isClass && known[class]:
		case name[0] == '@':
			if _, ok := c.Aspects.Lookup(name); !ok {
				t.Errorf("no aspect %s", name)
			}
		default:
			t.Errorf("no function %s", name)
		}
	}
	for _, p := range Truth() {
		for _, e := range p.Evidence {
			path, err := callpath.Parse(e.Path)
			if err != nil {
				t.Error(err)
				continue
			}
			if path.Elements[0].Name != e.View {
				t.Errorf("%s: %s does not begin with the view's root, %s", p.Name, e.Path, e.View)
			}
			for _, el := range path.Elements {
				check(el.Name)
			}
		}
	}
}

// functions gives the names of the workload's functions as the Go runtime does.
func functions(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("workload/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no workload: %v", err)
	}
	var names []string
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			switch {
			case !ok:
			case f.Recv != nil:
				names = append(names, "main.("+types.ExprString(f.Recv.List[0].Type)+")."+f.Name.Name)
			default:
				names = append(names, "main."+f.Name.Name)
			}
		}
	}
	return names
}
