//go:build linux

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/bench/tool"
)

// A kernel is one of the runtime's test programs.
type kernel struct {
	name    string
	path    string // its executable
	simple  bool   // it runs with one processor
	leaks   []*regexp.Regexp
	healthy bool // it leaks nothing
}

// stub replaces package pprof in the programs. Instead of
// writing a profile, the program says that it is ready, and
// waits. Then it prints its goroutines.
const stub = `package pprof

import (
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"syscall"
)

type Profile struct{}

// b is no variable of WriteTo: the allocator could put it beside a small
// lock, and so keep that.
var b [1]byte

func Lookup(string) *Profile { return &Profile{} }

func (*Profile) WriteTo(w io.Writer, debug int) error {
	if w == io.Discard {
		return nil
	}
	syscall.Write(1, []byte("READY\n"))
	for {
		if n, err := syscall.Read(0, b[:]); n > 0 || err == nil {
			break
		}
	}
	if prof := pprof.Lookup("goroutineleak"); prof != nil {
		prof.WriteTo(os.Stdout, 2)
	} else {
		pprof.Lookup("goroutine").WriteTo(os.Stdout, 2)
	}
	fmt.Println("END")
	os.Exit(0)
	return nil
}
`

// goleakStub is what the stub has in addition to compare with goleak.
var goleakStub = strings.NewReplacer("\t\"runtime/pprof\"\n", "\t\"runtime/pprof\"\n\n\t\"go.uber.org/goleak\"\n",
	"\tfmt.Println(\"END\")\n", "\tfmt.Println(\"\\n\\nGOLEAK\", goleak.Find())\n\tfmt.Println(\"END\")\n")

// goleakVersion is the module that the stub then needs.
const goleakVersion = "go.uber.org/goleak v1.3.0"

// goroot returns where the standard library of the toolchain is
// that runs the bench.
func goroot() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(out)), err
}

// buildKernels builds the test programs, and returns those that the
// runtime's test runs.
func (b *bench) buildKernels() ([]kernel, error) {
	root, err := goroot()
	if err != nil {
		return nil, err
	}
	all, err := expectations(filepath.Join(root, "src/runtime/goroutineleakprofile_test.go"))
	if err != nil {
		return nil, fmt.Errorf("the programs come with Go 1.26 and later: %w", err)
	}
	dir := filepath.Join(b.dir, "kernels")
	pprof := stub
	if b.oracle {
		pprof = goleakStub.Replace(stub)
	}
	if err := b.writeModule(dir, pprof); err != nil {
		return nil, err
	}
	in := map[string]string{} // the executable by the programs in it
	const strippedExe = ".stripped"
	for sub, from := range map[string]string{"simple": ".", "goker": "goker"} {
		source := filepath.Join(root, "src/runtime/testdata/testgoroutineleakprofile", from)
		names, err := copySources(source, filepath.Join(dir, sub))
		if err != nil {
			return nil, err
		}
		out := filepath.Join(dir, sub+".exe")
		if err := b.build(dir, out, "./"+sub, b.stripped); err != nil {
			return nil, err
		}
		if b.tenth >= 0 {
			if err := b.build(dir, out+strippedExe, "./"+sub, true); err != nil {
				return nil, err
			}
		}
		for _, name := range names {
			in[name] = out
		}
	}
	for i := range all {
		all[i].path = in[all[i].name]
		if b.tenth >= 0 && i/10%2 == 1 {
			all[i].path += strippedExe
		}
	}
	return all, nil
}

// writeModule writes a module with a package pprof.
func (b *bench) writeModule(dir, pprof string) error {
	line := "1.26" // before 1.23, channels did not know their timers
	if b.toolchain != "" {
		line = "1.21"
	}
	if err := os.MkdirAll(filepath.Join(dir, "pprof"), 0o777); err != nil {
		return err
	}
	module := "module kernels\n\ngo " + line + "\n"
	if b.oracle {
		module += "\nrequire " + goleakVersion + "\n"
	}
	for name, text := range map[string]string{"go.mod": module, "pprof/pprof.go": pprof} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	if b.oracle {
		return tool.Go(dir, []string{"GOWORK=off"}, "mod", "tidy") // which fetches goleak
	}
	return nil
}

// build builds a package in a folder.
func (b *bench) build(dir, out, pkg string, stripped bool) error {
	linking := ""
	if stripped {
		linking = "-s -w"
	}
	env := []string{"GOWORK=off"}
	if b.toolchain != "" {
		env = append(env, "GOTOOLCHAIN="+b.toolchain)
	}
	if b.oracle {
		env = append(env, "GOEXPERIMENT=goroutineleakprofile")
	}
	return tool.Go(dir, env, "build", "-trimpath", "-ldflags", linking, "-o", out, pkg)
}

var registered = regexp.MustCompile(`\bregister\("(\w+)"`)

// copySources copies the programs' sources with the stub as
// their pprof. It returns their names.
func copySources(from, to string) (names []string, err error) {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("there are no programs in %s: %v", from, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for _, m := range registered.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
		changed := strings.Replace(string(text), `"runtime/pprof"`, `"kernels/pprof"`, 1)
		if err := os.WriteFile(filepath.Join(to, filepath.Base(path)), []byte(changed), 0o666); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// expectations reads from the runtime's test which leaks its programs have.
func expectations(path string) (all []kernel, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return nil, err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		id, ok := call.Fun.(*ast.Ident)
		if !ok || id.Name != "makeTest" && id.Name != "makeFlakyTest" {
			return true
		}
		k := kernel{simple: id.Name == "makeTest", healthy: len(call.Args) == 1}
		for i, a := range call.Args {
			text, err := strconv.Unquote(a.(*ast.BasicLit).Value)
			if err != nil {
				return false
			}
			if i == 0 {
				k.name = text
			} else {
				k.leaks = append(k.leaks, regexp.MustCompile(text))
			}
		}
		all = append(all, k)
		return true
	})
	return all, nil
}
