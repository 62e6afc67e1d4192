package elffile

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/memory"
)

// A part is a section of a made-up file.
type part struct {
	elf.Section64
	content []byte
}

// A file is what make returns. It goes on with the letter A
// behind its content, without end, as a file of a file system
// can that a program provides.
type file []byte

func (f file) ReadAt(b []byte, at int64) (int, error) {
	n := 0
	if at < int64(len(f)) {
		n = copy(b, f[at:])
	}
	for i := n; i < len(b); i++ {
		b[i] = 'A'
	}
	return len(b), nil
}

// made returns a file with an empty section, then the parts; the
// last one has the names of sections.
func made(parts ...part) file {
	parts = append([]part{{}}, parts...)
	var b bytes.Buffer
	head := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Shoff: 64, Ehsize: 64,
		Phentsize: 56, Shentsize: 64, Shnum: uint16(len(parts)), Shstrndx: uint16(len(parts) - 1)}
	copy(head.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	binary.Write(&b, binary.LittleEndian, head)
	at := uint64(64 + 64*len(parts))
	for i, p := range parts {
		p.Off = at
		if p.Size == 0 {
			p.Size = uint64(len(p.content))
		}
		at += uint64(len(parts[i].content))
		binary.Write(&b, binary.LittleEndian, p.Section64)
	}
	for _, p := range parts {
		b.Write(p.content)
	}
	return b.Bytes()
}

// names is a section for the names of others.
func names(text string) part {
	return part{elf.Section64{Type: uint32(elf.SHT_STRTAB)}, []byte("\x00" + text + "\x00")}
}

// packed returns a compressed section of zeros, whose name is
// the first one.
func packed(size int) part {
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, elf.Chdr64{Type: uint32(elf.COMPRESS_ZLIB), Size: uint64(size), Addralign: 1})
	w := zlib.NewWriter(&b)
	w.Write(make([]byte, size))
	w.Close()
	return part{elf.Section64{Name: 1, Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_COMPRESSED)}, b.Bytes()}
}

// symbols returns n symbols that have the name at an offset of
// the second section.
func symbols(n int, at uint32) part {
	return part{elf.Section64{Name: 1, Type: uint32(elf.SHT_SYMTAB), Link: 2},
		bytes.Repeat(append(binary.LittleEndian.AppendUint32(nil, at), make([]byte, 20)...), n)}
}

// Files that would fill the memory are refused before they do.
func TestHostileFiles(t *testing.T) {
	long := names(strings.Repeat("N", 1<<20))
	sized := func(p part, size uint64) part { p.Size = size; return p }
	for _, c := range []struct {
		what string
		file file
		want string // in the error; "" if there is none
	}{
		{"good", made(packed(1<<20), symbols(1, 1), names("x")), ""},
		{"no sections", made()[:64], "the names of its sections"},
		{"names of 1 MB", made(packed(9), long), "the names of its sections have more than 64 KB"},
		{"names of 1 EB", made(packed(9), sized(names("x"), 1<<60)), "the names of its sections have more than 64 KB"},
		{"5,000 sections", made(append(make([]part, 5000), names("x"))...), "it has more than 4096 sections"},
		{"65,536 sections", made(append(make([]part, math.MaxUint16-1), names("x"))...), "it has more than 4096 sections"},
		{"compressed 1:1000", made(packed(64<<20), names(".debug_info")), "section .debug_info unpacks to more than 100 times"},
		{"compressed, it says", made(sized(packed(9), 1<<60), names(".debug_info")), ""},
		{"100,000 symbols of 1 MB", made(symbols(100_000, 1), long, names("x")), "the names of section x are much longer than section"},
		{"names without end", made(symbols(100_000, 0), part{elf.Section64{Type: uint32(elf.SHT_STRTAB)},
			bytes.Repeat([]byte("N"), 1<<20)}, names("x")), "the names of section x are much longer"},
		{"100,000 symbols of a name", made(symbols(100_000, 1<<20), long, names("x")), ""},
		{"1 EB of symbols", made(sized(symbols(1, 1), 1<<60), names(""), names("x")), "a quarter of this machine's memory"},
		{"a name of 1 EB", made(symbols(1, 1), sized(names(""), 1<<60), names("x")), "a quarter of this machine's memory"},
		{"symbols without names", made(symbols(9, math.MaxUint32), names(""), names("x")), ""},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := New(c.file)
		if err == nil {
			if _, err = Symbols(f); err == nil && f.Section(".debug_info") != nil {
				_, _ = Data(f.Section(".debug_info"), memory.NewBudget(1<<20))
			}
		}
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 20<<20 {
			t.Errorf("%s: reading it took %d MB", c.what, taken>>20)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
}
