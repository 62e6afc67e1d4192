//go:build linux && amd64

package gobinary_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampler/target/gobinary"
)

// hostile returns a copy of an executable in which one section's
// header is changed.
func hostile(t *testing.T, data []byte, name string, change func(header, content []byte)) []byte {
	t.Helper()
	f := fixture.Must(elf.NewFile(bytes.NewReader(data)))(t)
	data = bytes.Clone(data)
	headers := data[binary.LittleEndian.Uint64(data[40:]):]
	for i, s := range f.Sections {
		if s.Name == name {
			change(headers[64*i:64*i+64], data[s.Offset:])
			return data
		}
	}
	t.Fatalf("no section %s", name)
	return nil
}

// Executables that claim more than they have, or that lead in
// circles, take little memory: they are refused, or less is
// known of them.
func TestHostileExecutables(t *testing.T) {
	const size, flags, offset = 32, 8, 24 // in a section's header
	put := func(field int, value uint64) func(header, _ []byte) {
		return func(header, _ []byte) { binary.LittleEndian.PutUint64(header[field:], value) }
	}
	unpacked := func(size uint64) func(_, content []byte) {
		return func(_, content []byte) { binary.LittleEndian.PutUint64(content[8:], size) }
	}
	table := func(at int, value uint64) func(_, content []byte) {
		return func(_, content []byte) { binary.LittleEndian.PutUint64(content[at:], value) }
	}
	// fill sets all bytes of a part of the pclntab.
	fill := func(part int, with byte) func(_, content []byte) {
		return func(_, content []byte) {
			from, to := binary.LittleEndian.Uint64(content[8*(part+1):]), binary.LittleEndian.Uint64(content[8*(part+2):])
			for i := range content[from:to] {
				content[from+uint64(i)] = with
			}
		}
	}
	// each changes what the table of functions has of each one.
	each := func(change func(entry []byte)) func(_, content []byte) {
		return func(_, content []byte) {
			n, at := binary.LittleEndian.Uint64(content[8:]), binary.LittleEndian.Uint64(content[8*8:])
			for ; n > 0; n, at = n-1, at+8 {
				change(content[at:])
			}
		}
	}
	good := mustRead(t, build(t, "target"))
	for _, c := range []struct {
		what, section string
		change        func(header, content []byte)
		want          string // in the error; "" if it may be read
	}{
		{"unpacks to 1 TB", ".debug_info", unpacked(1 << 40), "section .debug_info, its sections unpack to more than 512 MB"},
		{"unpacks to 600 MB", ".debug_line", unpacked(600 << 20), "section .debug_line"},
		{"is 1 EB long", ".gopclntab", put(size, 1<<60), "pclntab"},
		{"is 1 EB long", ".symtab", put(size, 1<<60), ""},
		{"is 1 EB long", ".strtab", put(size, 1<<60), ""},
		{"is 1 EB long", ".debug_info", put(size, 1<<60), ""},
		{"is packed, it says", ".symtab", put(flags, uint64(elf.SHF_COMPRESSED)), ""},
		{"begins after the end", ".gopclntab", put(offset, 1<<62), ""},
		{"has 2^60 functions", ".gopclntab", table(8, 1<<60), "pclntab"},
		{"has its names in its header", ".gopclntab", table(32, 0), ""},
		{"has its functions in its header", ".gopclntab", table(64, 0), ""},
		{"describes functions by itself", ".gopclntab", each(func(entry []byte) { binary.LittleEndian.PutUint32(entry[4:], 0) }), ""},
		{"has one record for all functions", ".gopclntab", each(func(entry []byte) { copy(entry[4:], "\x40\x9c\x00") }), ""},
		{"has all functions at one place", ".gopclntab", each(func(entry []byte) { binary.LittleEndian.PutUint32(entry, 0) }), ""},
		{"has lines in its header", ".gopclntab", table(56, 8), "pclntab"},
		{"has tables of lines without end", ".gopclntab", fill(6, 1), ""},
		{"has numbers without end", ".gopclntab", fill(6, 0x80), ""},
		{"has names without end", ".gopclntab", fill(3, 'A'), ""},
		{"has files without end", ".gopclntab", fill(5, 'A'), ""},
	} {
		data := hostile(t, good, c.section, c.change)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		b, err := gobinary.Open(bytes.NewReader(data), 0)
		if err == nil {
			lo, hi := b.Table.Text()
			for pc := lo; pc < hi; pc += (hi - lo) / 100 {
				b.Table.Frames(nil, pc)
				if fn, ok := b.Table.Func(pc); ok {
					fn.SPDelta(pc)
					fn.StackMap(pc)
				}
			}
		}
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 10*uint64(len(good)) {
			t.Errorf("%s %s: reading it took %d MB", c.section, c.what, taken>>20)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s: %v, want %q", c.section, c.what, err, c.want)
		}
		t.Logf("%s %s: %v", c.section, c.what, err)
	}
}
