package gobinary

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/cpprof/cpprof/sampler/target/elffile"
	"github.com/cpprof/cpprof/sampler/target/gobinary/globals"
	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

// A Binary is what the sampler needs to know about a Go program.
// It does not change after Open.
type Binary struct {
	Version   string            // go1.26.8
	Release   goruntime.Release // the same, parsed, without experiments and vendors' suffixes
	Arch      string            // GOARCH: amd64 or arm64
	BuildInfo *debug.BuildInfo
	Bias      uint64 // distance by which the addresses below were moved
	Entry     uint64 // the file's entry point, as linked

	Layout  *layout.Layout
	Globals globals.Globals
	Module  uint64 // address of the first runtime.moduledata
	Table   *pclntab.Table

	// Disassembled: there are no symbols, and the globals were
	// found in code. The caller must validate them.
	Disassembled bool
}

// Open reads a Go program's executable. atEntry is the entry
// point in the running process (AT_ENTRY of its auxiliary
// vector), from which Open computes where a position-independent
// program was loaded. If it is 0, all addresses are link
// addresses.
//
// The layout of the runtime's structs is the known one of the
// release, if the program was built by a release of Go. Another
// one is read from the program's debug information, which takes
// longer. So is the layout of a program whose tables are not
// where the known layout has them.
func Open(r io.ReaderAt, atEntry uint64) (*Binary, error) {
	b, err := open(r, atEntry, readLayout)
	if err == nil {
		return b, nil
	}
	if b != nil && b.Layout.Source == layout.FromTable {
		if own, ownErr := OpenAsBuilt(r, atEntry); ownErr == nil {
			return own, nil
		}
	}
	return nil, err
}

// OpenAsBuilt is Open with the layout that the program's own debug
// information has.
func OpenAsBuilt(r io.ReaderAt, atEntry uint64) (*Binary, error) {
	return open(r, atEntry,
		func(im *image, _, _ string) (*layout.Layout, error) { return layout.FromELF(im.elf) })
}

// open reads an executable. If only its tables can't be read, it
// returns what was read beside the error.
func open(r io.ReaderAt, atEntry uint64, layoutOf func(im *image,
	version, arch string) (*layout.Layout, error)) (*Binary, error) {
	im, err := newImage(r)
	if err != nil {
		return nil, err
	}
	b := &Binary{Entry: im.elf.Entry}
	if b.Arch = goruntime.ArchOf(im.elf.Machine); b.Arch == "" {
		return nil, fmt.Errorf("reading executable: processor %v is not supported: only x86-64 and arm64 are", im.elf.Machine)
	}
	if atEntry != 0 {
		b.Bias = atEntry - b.Entry
	}
	if b.BuildInfo, err = buildinfo.Read(r); err != nil {
		return nil, fmt.Errorf("reading executable: no Go build information, not a Go program: %w",
			err)
	}
	b.Version = b.BuildInfo.GoVersion
	if b.Release, _, err = goruntime.ParseRelease(b.Version); err != nil {
		return nil, fmt.Errorf("reading executable: %w", err)
	}
	if b.Layout, err = layoutOf(im, b.Version, b.Arch); err != nil {
		return nil, fmt.Errorf("reading executable: %w", err)
	}
	if err := b.readRuntime(im); err != nil {
		return b, fmt.Errorf("reading executable: its runtime (%s) was read by %s: %w: %s", b.Version,
			b.Layout.Origin(), err, b.Remedy())
	}
	return b, nil
}

// Remedy says what helps if the runtime of the program can't be read.
func (b *Binary) Remedy() string {
	if b.Release.Line < goruntime.OldestLine {
		return fmt.Sprintf("it is older than Go 1.%d: build it with a newer Go", goruntime.OldestLine)
	}
	return "build it with a released Go and without -ldflags=-w, or use --backend delve"
}

// readRuntime reads the tables of the runtime in the program.
func (b *Binary) readRuntime(im *image) error {
	m, err := findModule(im, &b.Layout.Module)
	if err != nil {
		return err
	}
	if b.Table, err = m.table(b.Bias); err != nil {
		return err
	}
	b.Module = m.addr + b.Bias
	return b.findGlobals(im, m)
}

// readLayout takes the layout of a known release from the table,
// and any other one from the binary's own debug information or,
// if it has none, the layout of the nearest release.
func readLayout(im *image, version, arch string) (*layout.Layout, error) {
	fromTable, tableErr := layout.ForVersion(version, arch)
	if tableErr == nil && fromTable.Source == layout.FromTable {
		return fromTable, nil
	}
	l, err := layout.FromELF(im.elf)
	if err == nil {
		return l, nil
	}
	if tableErr != nil {
		return nil, fmt.Errorf("%w: use --backend delve, or a newer cpprof",
			errors.Join(err, tableErr))
	}
	return fromTable, nil
}

// table creates the pclntab's reader for the program moved by bias.
func (m *module) table(bias uint64) (*pclntab.Table, error) {
	return pclntab.New(m.tabledata,
		pclntab.Module{Text: m.text + bias, EText: m.etext + bias, GoFunc: m.gofuncdata})
}

// findGlobals finds the runtime's variables by name, else in code.
func (b *Binary) findGlobals(im *image, m *module) error {
	code, err := codeOf(im, m, b.Arch)
	if err != nil {
		return err
	}
	known := false
	if b.Globals, known = globals.FromSymbols(im.elf); !known {
		b.Globals, b.Disassembled = globalsIn(code, b.Layout), true
	}
	if missing := b.Globals.Missing(); len(missing) > 0 {
		return fmt.Errorf("no symbol table, and the code does not tell where %s is (Go version %s)",
			strings.Join(missing, ", "), b.Version)
	}
	b.Globals.Move(b.Bias)
	return nil
}

// globalsIn finds the runtime's variables in code. Variables that the release
// does not have stay 0.
func globalsIn(code globals.Code, l *layout.Layout) globals.Globals {
	g := globals.FromCode(code)
	if !l.Cleanups.All.Has() {
		g.GCCleanups = 0
	}
	return g
}

// codeOf returns access to a program's code at link addresses.
func codeOf(im *image, m *module, arch string) (globals.Code, error) {
	t, err := m.table(0)
	if err != nil {
		return globals.Code{}, err
	}
	return globals.Code{Arch: arch, Table: t,
		Data: func(addr uint64) bool { return elffile.IsVariable(im.elf, addr) },
		Bytes: func(f pclntab.Func) []byte {
			text, err := im.bytes(f.Entry, f.End-f.Entry)
			if err != nil {
				return nil
			}
			return text
		}}, nil
}
