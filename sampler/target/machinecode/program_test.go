package machinecode

import (
	"debug/elf"
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// A function is one of a program for tests.
type function struct {
	name string
	addr uint64
	code []byte
}

// functions returns those of testdata/programs/holders, built for a processor.
func functions(t *testing.T, arch string) []function {
	t.Helper()
	t.Setenv("GOOS", "linux")
	t.Setenv("GOARCH", arch)
	t.Setenv("CGO_ENABLED", "0")
	f := fixture.Must(elf.Open(fixture.Build(t, "holders")))(t)
	defer f.Close()
	section := f.Section(".text")
	text := fixture.Must(section.Data())(t)
	symbols := fixture.Must(f.Symbols())(t)
	var all []function
	for _, s := range symbols {
		if at := s.Value - section.Addr; elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value >= section.Addr && at+s.Size <= uint64(len(text)) {
			all = append(all, function{s.Name, s.Value, text[at:][:s.Size]})
		}
	}
	if len(all) < 1000 {
		t.Fatalf("only %d functions", len(all))
	}
	return all
}

// Scan misses none of the calls that Decode finds, nor atomic instructions.
func TestScan(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		m := ForArch(arch)
		calls := 0
		for _, f := range functions(t, arch) {
			var targets []uint64
			found := m.Scan(f.code, f.addr, [2]int64{}, func(target uint64) { targets = append(targets, target) })
			end := f.addr + uint64(len(f.code))
			for _, x := range m.Decode(nil, f.code, f.addr) {
				switch {
				case x.Op == OpCall && x.Indirect && !x.Operand.InMemory && !found.Indirect:
					t.Errorf("%s, %s: the indirect call at %#x is not found", arch, f.name, x.PC)
				case x.Op == OpCall && !x.Indirect && (x.Target < f.addr || x.Target >= end) && x.Target%entryAlignment == 0:
					if calls++; !slices.Contains(targets, x.Target) {
						t.Errorf("%s, %s: the call of %#x at %#x is not found", arch, f.name, x.Target, x.PC)
					}
				case x.Op == OpSwap && !found.Atomic:
					t.Errorf("%s, %s: the atomic instruction at %#x is not found", arch, f.name, x.PC)
				}
			}
		}
		if calls < 1000 {
			t.Errorf("%s: only %d calls", arch, calls)
		}
	}
}
