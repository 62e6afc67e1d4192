package layout

import (
	"debug/elf"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
)

// built returns the executable of a small program for Linux, with its DWARF.
func built(t *testing.T) *elf.File {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() { println() }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", program, source)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// Wherever the entries are cut, what is found in their beginning is the same as in the whole; and some beginning suffices.
func TestABeginningOfTheDWARF(t *testing.T) {
	f := built(t)
	info, err := debugSection(f, "info")
	if err != nil {
		t.Fatal(err)
	}
	others, err := otherSections(f)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]field{}
	(&Layout{}).eachStruct(func(name string, fields []field) { want["runtime."+name] = fields })
	whole, err := others.structsIn(info, want)
	if err != nil || len(whole) != len(want) {
		t.Fatalf("%d structs: %v", len(whole), err)
	}
	sufficed := false
	for cut := 13; cut < len(info); cut += max(1, len(info)/97) {
		some, err := others.structsIn(completed(info[:cut]), want)
		for name := range maps.Keys(some) {
			if !reflect.DeepEqual(some[name], whole[name]) {
				t.Errorf("of %d bytes: %s is %v, want %v (%v)", cut, name, some[name], whole[name], err)
			}
		}
		sufficed = sufficed || len(some) == len(whole)
	}
	if !sufficed {
		t.Error("no beginning suffices")
	}
}

// The DWARF of a program tells the same as the table.
func TestDWARFAndTable(t *testing.T) {
	l, err := FromELF(built(t))
	if err != nil {
		t.Fatal(err)
	}
	table, err := ForVersion(runtime.Version(), "amd64")
	if err != nil || table.Source != FromTable {
		t.Skipf("the table doesn't know %s: %v", runtime.Version(), err)
	}
	table.Source, table.Release = l.Source, l.Release
	if *l != *table {
		t.Errorf("DWARF: %+v\ntable: %+v", *l, *table)
	}
}
