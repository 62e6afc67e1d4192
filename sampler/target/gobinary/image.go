package gobinary

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/sampler/target/elffile"
)

// maxPart is the maximum size of a part of a file that is read
// at once. A file with holes takes little of a disk, and several
// parts are read. All useful parts of Go programs are far
// smaller.
var maxPart = uint64(min(1<<30, memory.Default()/4))

// errUnmapped reports that an address is not in memory that is
// loaded from the file.
var errUnmapped = errors.New("not in the file's segments")

// An image is the program as the dynamic linker loads it, at
// link addresses: its segments with the relocations that the
// bias requires. In position-independent programs, the file has
// zeros at the relocated words.
type image struct {
	elf    *elf.File
	relocs []reloc // by address
}

// A reloc is a word that the dynamic linker sets to value plus bias.
type reloc struct{ addr, value uint64 }

func newImage(r io.ReaderAt) (*image, error) {
	f, err := elffile.New(r)
	if err != nil {
		return nil, fmt.Errorf("reading executable: %w", err)
	}
	if f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.LittleEndian {
		return nil, fmt.Errorf("reading executable: %v %v is not supported: only 64-bit little-endian Linux programs are", f.Class, f.Machine)
	}
	im := &image{elf: f}
	if err := im.readRelocs(); err != nil {
		return nil, err
	}
	return im, nil
}

// relative is the kind of relocation that adds the bias, per machine.
func relative(m elf.Machine) uint32 {
	if m == elf.EM_AARCH64 {
		return uint32(elf.R_AARCH64_RELATIVE)
	}
	return uint32(elf.R_X86_64_RELATIVE)
}

// readRelocs collects the relative relocations. The relocated
// words may be zero in the file, since the relocation has the
// value.
func (im *image) readRelocs() error {
	const entry = 24
	kind := relative(im.elf.Machine)
	for _, s := range im.elf.Sections {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		b, err := elffile.Data(s, memory.NewBudget(int64(maxPart)))
		if err != nil {
			return err
		}
		for ; len(b) >= entry; b = b[entry:] {
			if uint32(binary.LittleEndian.Uint64(b[8:])) == kind {
				im.relocs = append(im.relocs,
					reloc{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[16:])})
			}
		}
	}
	sort.Slice(im.relocs, func(i, j int) bool { return im.relocs[i].addr < im.relocs[j].addr })
	return nil
}

// segment returns the loaded segment whose file contents include addr.
func (im *image) segment(addr uint64) *elf.Prog {
	for _, p := range im.elf.Progs {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr-p.Vaddr < p.Filesz {
			return p
		}
	}
	return nil
}

// bytes reads n bytes at a link address, relocated.
func (im *image) bytes(addr, n uint64) ([]byte, error) {
	p := im.segment(addr)
	if p == nil || n > p.Filesz-(addr-p.Vaddr) {
		return nil, fmt.Errorf("reading %d bytes at %#x: %w", n, addr, errUnmapped)
	}
	if n > maxPart {
		return nil, fmt.Errorf("reading %d bytes at %#x: too many", n, addr)
	}
	b, err := readFull(p, addr-p.Vaddr, n)
	if err != nil {
		return nil, fmt.Errorf("reading %d bytes at %#x: %w", n, addr, err)
	}
	i := sort.Search(len(im.relocs), func(i int) bool { return im.relocs[i].addr >= addr })
	for ; i < len(im.relocs) && n >= 8 && im.relocs[i].addr <= addr+n-8; i++ {
		binary.LittleEndian.PutUint64(b[im.relocs[i].addr-addr:], im.relocs[i].value)
	}
	return b, nil
}

// readFull reads n bytes at off. It reads the last one first, so
// that a wrong size in the file does not allocate much memory.
func readFull(r io.ReaderAt, off, n uint64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	if got, err := r.ReadAt(make([]byte, 1), int64(off+n-1)); got < 1 {
		return nil, fmt.Errorf("file is cut off: %w", err)
	}
	b := make([]byte, n)
	if got, err := r.ReadAt(b, int64(off)); got < int(n) {
		return nil, fmt.Errorf("file is cut off: %w", err)
	}
	return b, nil
}

// tail reads from a link address to the end of its section, or
// of its segment if the file has no sections.
func (im *image) tail(addr uint64) ([]byte, error) {
	for _, s := range im.elf.Sections {
		if s.Type == elf.SHT_PROGBITS && s.Flags&elf.SHF_ALLOC != 0 && addr >= s.Addr &&
			addr-s.Addr < s.Size {
			return im.bytes(addr, s.Size-(addr-s.Addr))
		}
	}
	p := im.segment(addr)
	if p == nil {
		return nil, fmt.Errorf("reading at %#x: %w", addr, errUnmapped)
	}
	return im.bytes(addr, p.Filesz-(addr-p.Vaddr))
}

// Loaded returns a function that reads a program's memory as it
// is when the program starts, at link addresses.
func Loaded(r io.ReaderAt) (read func(addr uint64, b []byte) error, err error) {
	im, err := newImage(r)
	if err != nil {
		return nil, err
	}
	return func(addr uint64, b []byte) error {
		got, err := im.bytes(addr, uint64(len(b)))
		copy(b, got)
		return err
	}, nil
}
