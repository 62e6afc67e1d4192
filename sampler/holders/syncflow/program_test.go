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
	f := fixture.Must(os.Open(path))(t)
	t.Cleanup(func() { f.Close() })
	b := fixture.Must(gobinary.Open(f, 0))(t)
	e := fixture.Must(elf.NewFile(f))(t)
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
	a := fixture.Must(New(p))(t)
	a.Refill(1 << 40)
	return a
}
