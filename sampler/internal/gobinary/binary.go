package gobinary

import (
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/cpprof/cpprof/sampler/internal/gobinary/globals"
	"github.com/cpprof/cpprof/sampler/internal/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/goruntime/layout"
)

// A Binary is what the sampler knows of a Go program. It is not changed after Open.
type Binary struct {
	Version   string            // go1.26.8
	Release   goruntime.Release // the same, parsed; experiments and vendors' names aside
	Arch      string            // GOARCH: amd64 or arm64
	BuildInfo *debug.BuildInfo
	PIE       bool
	Bias      uint64 // what the addresses below have been moved by
	Entry     uint64 // the file's entry point, as linked

	Layout  *layout.Layout
	Globals globals.Globals
	Table   *pclntab.Table

	// Disassembled: there are no symbols, and the globals were found in code. Whoever uses them validates them.
	Disassembled bool
}

// Open reads a Go program's executable. AtEntry is the entry point in the running process (AT_ENTRY of its auxiliary
// vector), by which position-independent programs are moved; 0 leaves all addresses as linked.
func Open(r io.ReaderAt, atEntry uint64) (*Binary, error) {
	im, err := newImage(r)
	if err != nil {
		return nil, err
	}
	b := &Binary{Entry: im.elf.Entry, PIE: im.elf.Type == elf.ET_DYN}
	if b.Arch = goruntime.ArchOf(im.elf.Machine); b.Arch == "" {
		return nil, fmt.Errorf("reading executable: processor %v is not supported: only x86-64 and arm64 are", im.elf.Machine)
	}
	if atEntry != 0 {
		b.Bias = atEntry - b.Entry
	}
	if b.BuildInfo, err = buildinfo.Read(r); err != nil {
		return nil, fmt.Errorf("reading executable: no Go build information, not a Go program: %w", err)
	}
	b.Version = b.BuildInfo.GoVersion
	if b.Release, _, err = goruntime.ParseRelease(b.Version); err != nil {
		return nil, fmt.Errorf("reading executable: %w", err)
	}
	if b.Layout, err = readLayout(im, b.Version, b.Arch); err != nil {
		return nil, fmt.Errorf("reading executable: %w", err)
	}
	if err := b.readRuntime(im); err != nil {
		return nil, fmt.Errorf("reading executable: its runtime (%s) was read by %s: %w: build it with a released Go "+
			"and without -ldflags=-w, or use --backend delve", b.Version, b.Layout.Origin(), err)
	}
	return b, nil
}

// readRuntime finds what the runtime knows of the program, by its layout.
func (b *Binary) readRuntime(im *image) error {
	m, err := findModule(im, &b.Layout.Module)
	if err != nil {
		return err
	}
	if b.Table, err = m.table(b.Bias); err != nil {
		return err
	}
	return b.findGlobals(im, m)
}

// readLayout takes the binary's own word, else the table's.
func readLayout(im *image, version, arch string) (*layout.Layout, error) {
	l, err := layout.FromELF(im.elf)
	if err == nil {
		return l, nil
	}
	fromTable, tableErr := layout.ForVersion(version, arch)
	if tableErr != nil {
		return nil, fmt.Errorf("%w: use --backend delve, or a newer cpprof", errors.Join(err, tableErr))
	}
	return fromTable, nil
}

// table makes the pclntab's reader for the program moved by bias.
func (m *module) table(bias uint64) (*pclntab.Table, error) {
	return pclntab.New(m.tabledata, pclntab.Module{Text: m.text + bias, EText: m.etext + bias, GoFunc: m.gofuncdata})
}

// findGlobals finds the runtime's variables by name, else in code.
func (b *Binary) findGlobals(im *image, m *module) error {
	code, err := codeOf(im, m, b.Arch)
	if err != nil {
		return err
	}
	if b.Globals, err = globals.FromSymbols(im.elf); err != nil {
		b.Globals, b.Disassembled = globals.FromCode(code), true
	}
	if missing := b.Globals.Missing(); len(missing) > 0 {
		return fmt.Errorf("no symbol table, and the code does not tell where %s is (Go version %s)", strings.Join(missing, ", "), b.Version)
	}
	b.Globals.Move(b.Bias)
	return nil
}

// codeOf returns access to a program's code at link addresses.
func codeOf(im *image, m *module, arch string) (globals.Code, error) {
	t, err := m.table(0)
	if err != nil {
		return globals.Code{}, err
	}
	return globals.Code{Arch: arch, Table: t, Data: variables(im.elf), Bytes: func(f pclntab.Func) []byte {
		text, err := im.bytes(f.Entry, f.End-f.Entry)
		if err != nil {
			return nil
		}
		return text
	}}, nil
}

// variables tells which link addresses are those of variables, by the sections that hold them.
func variables(f *elf.File) func(uint64) bool {
	var in []elf.SectionHeader
	for _, s := range f.Sections {
		switch s.Name {
		case ".data", ".noptrdata", ".bss", ".noptrbss", ".go.module":
			in = append(in, s.SectionHeader)
		}
	}
	return func(addr uint64) bool {
		for _, s := range in {
			if addr >= s.Addr && addr-s.Addr < s.Size {
				return true
			}
		}
		return false
	}
}
