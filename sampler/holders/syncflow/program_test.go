package syncflow

import (
	"debug/elf"
	"errors"
	"os"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// programOf returns an executable as a program whose memory is
// what the file says.
func programOf(t testing.TB, path string) Program {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	b, err := gobinary.Open(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	e, err := elf.NewFile(f)
	if err != nil {
		t.Fatal(err)
	}
	return Program{Table: b.Table, Arch: b.Arch, Read: func(addr uint64, b []byte) error {
		for _, p := range e.Progs {
			if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr+uint64(len(b)) <= p.Vaddr+p.Filesz {
				_, err := p.ReadAt(b, int64(addr-p.Vaddr))
				return err
			}
		}
		return errors.New("not mapped")
	}}
}

// build builds testdata/programs/holders for a processor.
func build(t testing.TB, arch string, flags ...string) Program {
	t.Helper()
	return buildFor(t, arch, "holders", flags...)
}

// buildFor builds one of testdata/programs for a processor.
func buildFor(t testing.TB, arch, name string, flags ...string) Program {
	t.Helper()
	t.Setenv("GOOS", "linux")
	t.Setenv("GOARCH", arch)
	t.Setenv("CGO_ENABLED", "0")
	return programOf(t, fixture.Build(t, name, flags...))
}

// analyzer returns one that may learn all that it wants.
func analyzer(t testing.TB, p Program) *Analyzer {
	t.Helper()
	a, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	a.Refill(1 << 40)
	return a
}
