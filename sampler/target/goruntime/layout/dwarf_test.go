package layout

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// built returns the executable of a small program for Linux,
// with its DWARF.
func built(t *testing.T) *elf.File {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	fixture.Check(t, os.WriteFile(source, []byte("package main\n\nfunc main() { println() }\n"), 0o666))
	cmd := exec.Command("go", "build", "-ldflags=", "-o", program, source)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f := fixture.Must(elf.Open(program))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

// The DWARF of a program tells the same as the table.
func TestDWARFAndTable(t *testing.T) {
	l := fixture.Must(FromELF(built(t)))(t)
	table, err := ForVersion(runtime.Version(), "amd64")
	if err != nil || table.Source != FromTable {
		t.Skipf("the table doesn't know %s: %v", runtime.Version(), err)
	}
	table.Source, table.Release = l.Source, l.Release
	if *l != *table {
		t.Errorf("DWARF: %+v\ntable: %+v", *l, *table)
	}
}
