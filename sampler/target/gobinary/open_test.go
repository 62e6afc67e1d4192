//go:build linux && amd64

package gobinary_test

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

func openFile(t testing.TB, path string) *gobinary.Binary {
	t.Helper()
	return openWith(t, path, gobinary.Open)
}

func openWith(t testing.TB, path string, open func(io.ReaderAt, uint64) (*gobinary.Binary, error)) *gobinary.Binary {
	t.Helper()
	f := fixture.Must(os.Open(path))(t)
	defer f.Close()
	b, err := open(f, 0)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return b
}

// toolchainsVar names the variable with the releases that the
// matrix covers besides the local one.
const toolchainsVar = "GOBINARY_TOOLCHAINS"

// TestMatrixLong opens what different releases of Go link in
// different ways, for both processors. The symbol table and the
// DWARF of the full binary are the oracle for the same program
// without them.
func TestMatrixLong(t *testing.T) {
	fixture.LongInTurn(t, 0)
	toolchains := strings.Fields(os.Getenv(toolchainsVar))
	if len(toolchains) == 0 {
		t.Logf("other releases of Go than the local one are left out: set %s to a list of them (go1.21.0 go1.25.3 ...), to be fetched", toolchainsVar)
	}
	for _, tc := range append([]string{""}, toolchains...) {
		for _, target := range []string{"target", "cgotarget"} {
			for _, arch := range []string{"amd64", "arm64"} {
				for _, kind := range []string{"exe", "pie"} {
					if arch == "arm64" && (target == "cgotarget" || kind == "pie" && len(toolchains) == 0) {
						continue // there is no C compiler for it; building all packages again takes long
					}
					t.Run(strings.Join([]string{tc, target, arch, kind}, "-"), func(t *testing.T) {
						full := link(t, tc, target, arch, "-buildmode="+kind)
						bare := link(t, tc, target, arch, "-buildmode="+kind, "-ldflags=-s -w")
						compareStripped(t, openWith(t, full, gobinary.OpenAsBuilt), openFile(t, bare))
						compareGlobals(t, full)
						compareTables(t, full)
						if arch == runtime.GOARCH && tc != "" {
							checkBusy(t, bare, 100)
							if target == "target" {
								compareParked(t, start(t, bare))
							}
						}
					})
				}
			}
		}
	}
}

// link builds a target with a toolchain for a processor.
func link(t *testing.T, toolchain, target, arch string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), target)
	cmd := exec.Command("go", append(append([]string{"build", "-o", path}, flags...), ".")...)
	cmd.Dir = filepath.Join("testdata", target)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOARCH="+arch)
	if toolchain != "" {
		cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+toolchain)
	}
	if target != "cgotarget" {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	}
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s for %s: %v\n%s", target, arch, err, msg)
	}
	return path
}

// compareStripped checks that as much is found in a binary
// without symbols and DWARF as in the same one with them.
func compareStripped(t *testing.T, full, bare *gobinary.Binary) {
	t.Helper()
	if full.Layout.Source != layout.FromDWARF || full.Disassembled || !bare.Disassembled {
		t.Fatalf("layout %v, disassembled %v and %v", full.Layout.Source, full.Disassembled, bare.Disassembled)
	}
	want := *full.Layout
	want.Source, want.Release = bare.Layout.Source, bare.Layout.Release
	if *bare.Layout != want {
		t.Errorf("layout (%v, of %s):\n got %+v\nwant %+v", bare.Layout.Source, bare.Layout.Release, *bare.Layout, want)
	}
	for name, pair := range map[string][2]uint64{
		"allgs": {bare.Globals.AllGs, full.Globals.AllGs}, "allm": {bare.Globals.AllM, full.Globals.AllM},
	} {
		if pair[0] == 0 || pair[1] == 0 {
			t.Errorf("%s: %#x stripped, %#x not", name, pair[0], pair[1])
		}
	}
}

// compareGlobals compares the globals that were found in code
// with the symbol table of the same binary.
func compareGlobals(t *testing.T, path string) {
	t.Helper()
	f := fixture.Must(os.Open(path))(t)
	defer f.Close()
	b := openFile(t, path)
	got := fixture.Must(gobinary.GlobalsFromCode(f, b))(t)
	if got != b.Globals {
		t.Errorf("globals found in code:\n got %+v\nwant %+v", got, b.Globals)
	}
}

// compareTables checks functions and lines of a binary with its
// symbol table and the DWARF line table.
func compareTables(t *testing.T, path string) {
	t.Helper()
	b := openFile(t, path)
	f := fixture.Must(elf.Open(path))(t)
	defer f.Close()
	compareFunctions(t, b.Table, f)
	compareLines(t, b.Table, f)
}

// compareFunctions checks entries and names of all functions.
func compareFunctions(t *testing.T, table *pclntab.Table, f *elf.File) {
	t.Helper()
	syms := fixture.Must(f.Symbols())(t)
	names := map[uint64][]string{}
	for _, s := range syms {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			name := strings.TrimSuffix(strings.TrimSuffix(s.Name, ".abi0"), ".abiinternal")
			name = strings.ReplaceAll(name, "·", ".")
			names[s.Value] = append(names[s.Value], name)
		}
	}
	bad := 0
	for i := range table.Len() {
		fn, ok := table.At(i)
		if !ok {
			t.Fatalf("function %d is not readable", i)
		}
		found := false
		for _, n := range names[fn.Entry] {
			found = found || n == strings.ReplaceAll(fn.Name(), "·", ".")
		}
		again, ok := table.Func((fn.Entry + fn.End) / 2)
		if (!found && len(names[fn.Entry]) > 0 || !ok && fn.End > fn.Entry || again.Entry != fn.Entry) && bad < 10 {
			bad++
			t.Errorf("function %d at %#x: %s; symbols %v; found again: %v at %#x", i, fn.Entry, fn.Name(), names[fn.Entry], ok, again.Entry)
		}
	}
}

// compareLines checks the innermost position of addresses all over the program.
func compareLines(t *testing.T, table *pclntab.Table, f *elf.File) {
	t.Helper()
	d := fixture.Must(f.DWARF())(t)
	compared, bad := 0, 0
	r := d.Reader()
	for {
		e := fixture.Must(r.Next())(t)
		if e == nil {
			break
		}
		r.SkipChildren()
		lr, err := d.LineReader(e)
		if err != nil || lr == nil {
			continue
		}
		var le dwarf.LineEntry
		for lr.Next(&le) == nil {
			if le.EndSequence || le.File == nil {
				continue
			}
			frames, ok := table.Frames(nil, le.Address)
			if !ok {
				continue // C
			}
			compared++
			if fr := frames[0]; (int(fr.Line) != le.Line || fr.File != le.File.Name) && fr.File != "<autogenerated>" {
				if bad++; bad <= 5 {
					t.Logf("%#x: %s:%d, DWARF says %s:%d", le.Address, fr.File, fr.Line, le.File.Name, le.Line)
				}
			}
		}
	}
	t.Logf("%d positions, %d differ", compared, bad)
	if compared < 10000 || bad*100 > compared {
		t.Errorf("%d of %d positions differ", bad, compared)
	}
}

// Open refuses a file that is not a Go program, and reports why.
func TestOpenRefuses(t *testing.T) {
	for name, data := range map[string][]byte{"empty": nil, "text": []byte("#!/bin/sh\n"), "cut": mustRead(t, build(t, "target"))[:5000]} {
		if _, err := gobinary.Open(bytes.NewReader(data), 0); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
}

func mustRead(t testing.TB, path string) []byte {
	t.Helper()
	return fixture.Must(os.ReadFile(path))(t)
}
