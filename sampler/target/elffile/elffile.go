// Package elffile opens ELF files that may be made to harm.
// Package debug/elf believes what a file says about its sizes: a
// few megabytes could fill the memory.
package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/memory"
)

// Limits of a file. Go programs have some 40 sections, their
// symbols' names overlap little, and their debug information
// packs to a third.
const (
	maxSections = 4096
	maxNames    = 1 << 16  // bytes of the names of sections
	maxUnpacked = 1 << 29  // bytes of all compressed sections, unpacked
	maxRatio    = 100      // between a compressed section's sizes, above 1 MB
	maxNotes    = 64 << 20 // bytes of what describes threads and files in a core dump
)

// New is elf.NewFile for a file that nobody vouches for: it
// refuses one that is small, but would fill the memory. Later
// readers of the file rely on that.
func New(r io.ReaderAt) (*elf.File, error) {
	if err := checkHeader(r); err != nil {
		return nil, err
	}
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	return f, checkPacked(f)
}

// checkHeader checks how many sections there are, and how long their names.
func checkHeader(r io.ReaderAt) error {
	var head [64]byte
	if n, err := r.ReadAt(head[:], 0); n < 52 || string(head[:4]) != elf.ELFMAG {
		return errors.Join(errors.New("it is no ELF file"), err)
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	at, size, counts, length := uint64(order.Uint32(head[32:])), 40, head[46:], 20
	if elf.Class(head[elf.EI_CLASS]) == elf.ELFCLASS64 {
		at, size, counts, length = order.Uint64(head[40:]), 64, head[58:], 32
	}
	if at == 0 {
		return nil
	}
	each, sections, names := int64(order.Uint16(counts)), order.Uint16(counts[2:]),
		int64(order.Uint16(counts[4:]))
	if sections == 0 || sections > maxSections { // 0: more than two bytes can count
		return fmt.Errorf("it has more than %d sections", maxSections)
	}
	header := make([]byte, size)
	if _, err := r.ReadAt(header, int64(at)+names*each); err != nil {
		return fmt.Errorf("the names of its sections: %w", err)
	}
	bytes := uint64(order.Uint32(header[length:]))
	if size == 64 {
		bytes = order.Uint64(header[length:])
	}
	if bytes > maxNames {
		return fmt.Errorf("the names of its sections have more than %d KB", maxNames>>10)
	}
	return nil
}

// unpackFirst is what helps if the sections of a file unpack to too much.
const unpackFirst = "if you trust the file, run one without compressed sections (objcopy --decompress-debug-sections)"

// checkPacked checks what the compressed sections unpack to.
func checkPacked(f *elf.File) error {
	left := uint64(maxUnpacked)
	for _, s := range f.Sections {
		packed := s.Flags&elf.SHF_COMPRESSED != 0
		if strings.HasPrefix(s.Name, ".zdebug_") { // a former form
			s.Open() // sets the size
			packed = true
		}
		switch {
		case !packed: // it is at most as large as the file
		case s.Size > left:
			return fmt.Errorf("with section %s, its sections unpack to more than %d MB: %s",
				s.Name, maxUnpacked>>20, unpackFirst)
		case s.Size > 1<<20 && s.Size/maxRatio > s.FileSize:
			return fmt.Errorf("section %s unpacks to more than %d times its size: %s", s.Name,
				maxRatio, unpackFirst)
		default:
			left -= s.Size
		}
	}
	return nil
}

// Notes calls f with the kind and the content of each note of a
// segment. It takes no more memory than the file has notes.
func Notes(p *elf.Prog, f func(kind uint32, content []byte) error) error {
	if p.Filesz > maxNotes {
		return fmt.Errorf("its notes have %d MB, which is more than a program's threads need",
			p.Filesz>>20)
	}
	all, err := io.ReadAll(p.Open())
	if err == nil && uint64(len(all)) < p.Filesz {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("its notes are cut off: %w", err)
	}
	const head = 12
	for b := all; len(b) > 0; {
		at := len(all) - len(b)
		if len(b) < head {
			if bytes.Count(b, []byte{0}) == len(b) {
				break // it is no note
			}
			return fmt.Errorf("a note at %d of them is damaged", at)
		}
		name := uint64(binary.LittleEndian.Uint32(b))
		size := uint64(binary.LittleEndian.Uint32(b[4:]))
		from := head + (name+3)&^3
		if from+size > uint64(len(b)) {
			return fmt.Errorf("a note at %d of them says that it is longer than all notes", at)
		}
		if err := f(binary.LittleEndian.Uint32(b[8:]), b[from:from+size]); err != nil {
			return fmt.Errorf("a note at %d of them has %w", at, err)
		}
		b = b[min(from+(size+3)&^3, uint64(len(b))):]
	}
	return nil
}

// Symbols returns a file's symbols. Those for the dynamic linker come last.
func Symbols(f *elf.File) ([]elf.Symbol, error) {
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		if err := checkSymbols(f, f.SectionByType(kind)); err != nil {
			return nil, err
		}
	}
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, err
	}
	dynamic, _ := f.DynamicSymbols()
	return append(symbols, dynamic...), nil
}

// checkSymbols checks how long the names of symbols are
// together. All of them may have the end of one long name.
func checkSymbols(f *elf.File, s *elf.Section) error {
	if s == nil || f.Class != elf.ELFCLASS64 || int(s.Link) >= len(f.Sections) {
		return nil
	}
	budget, names := memory.NewBudget(0), f.Sections[s.Link]
	symbols, err := Data(s, budget)
	if err != nil {
		return err
	}
	text, err := Data(names, budget)
	if err != nil {
		return err
	}
	const entry = 24
	for left := 8*len(text) + 1<<20; len(symbols) >= entry; symbols = symbols[entry:] {
		at := f.ByteOrder.Uint32(symbols)
		if uint64(at) >= uint64(len(text)) {
			continue
		}
		name, _, _ := bytes.Cut(text[at:], []byte{0})
		if left -= len(name); left < 0 {
			return fmt.Errorf("the names of section %s are much longer than section %s",
				s.Name, names.Name)
		}
	}
	return nil
}

// IsVariable reports whether a package's variable lies at a link
// address, by the sections that have variables.
func IsVariable(f *elf.File, addr uint64) bool {
	return slices.ContainsFunc(f.Sections, func(s *elf.Section) bool {
		switch s.Name {
		case ".data", ".noptrdata", ".bss", ".noptrbss", ".go.module":
			return addr >= s.Addr && addr-s.Addr < s.Size
		}
		return false
	})
}

// Data reads a complete section, uncompressed, within a budget.
func Data(s *elf.Section, budget *memory.Budget) ([]byte, error) {
	if s.Type == elf.SHT_NOBITS {
		return nil, fmt.Errorf("section %s has no bytes in the file", s.Name)
	}
	if s.Size > 1<<62 || budget.Take(int64(max(s.Size, s.FileSize))) != nil {
		return nil, fmt.Errorf("section %s has %d bytes: a quarter of this machine's memory does not suffice", s.Name, s.Size)
	}
	b, err := s.Data()
	if err != nil {
		return nil, fmt.Errorf("section %s: %w", s.Name, err)
	}
	return b, nil
}
