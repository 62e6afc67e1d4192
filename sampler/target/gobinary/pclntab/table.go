// Package pclntab reads the table of functions, lines, stack
// depths and inlined calls that every Go program has, in the
// form that linkers have written since Go 1.20. Nothing in the
// file is trusted: data outside the table counts as absent, and
// the time of a look-up is at most proportional to the length of
// one function's code.
package pclntab

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"sort"
	"sync"
)

// magic begins every table since Go 1.20.
const magic = 0xfffffff1

// headerSize is the length of the table's header: magic, padding, sizes,
// eight words.
const headerSize = 8 + 8*8

// maxName is the maximum length of the name of a function or a file.
const maxName = 1 << 16

// A Module has what the table needs to know about the program.
// Addresses are the running process's.
type Module struct {
	Text, EText uint64 // the program's Go code
	GoFunc      []byte // the bytes at moduledata.gofunc, which contain the inline trees
}

// A Table returns functions, lines and stack depths by code
// address. It is safe for concurrent use.
type Table struct {
	mod      Module
	quantum  uint64 // the length of an instruction is a multiple of this many bytes
	nfunc    int
	funcname []byte
	cutab    []byte
	filetab  []byte
	pctab    []byte
	funcs    []byte // the function table, then the functions' records

	mu    sync.Mutex
	names map[uint32]string // interned, by offset in funcname
	files map[uint32]string // interned, by offset in filetab
}

// IsHeader reports whether b begins like a table of a 64-bit
// little-endian program.
func IsHeader(b []byte) bool {
	return len(b) >= headerSize && binary.LittleEndian.Uint32(b) == magic && b[4] == 0 &&
		b[5] == 0 &&
		(b[6] == 1 || b[6] == 2 || b[6] == 4) && b[7] == 8
}

// New reads the header of a table. The table keeps using data.
func New(data []byte, mod Module) (*Table, error) {
	if !IsHeader(data) {
		return nil, errors.New("reading pclntab: unknown header: the program was linked before Go 1.20, or the table is damaged")
	}
	if mod.EText < mod.Text {
		return nil, fmt.Errorf("reading pclntab: text ends at %#x before it starts at %#x",
			mod.EText, mod.Text)
	}
	t := &Table{mod: mod, quantum: uint64(data[6]), names: map[uint32]string{},
		files: map[uint32]string{}}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(data[8+8*i:]) }
	// Words 0 to 2 are the number of functions and files, and
	// the text's start, which is unused since 1.26.
	for i, part := range []*[]byte{&t.funcname, &t.cutab, &t.filetab, &t.pctab, &t.funcs} {
		off := word(3 + i)
		if off < headerSize || off > uint64(len(data)) {
			return nil, fmt.Errorf("reading pclntab: part %d lies at %#x, outside of the table's %#x bytes", i, off, len(data))
		}
		*part = data[off:]
	}
	n := word(0)
	if n == 0 || n > uint64(len(t.funcs))/8 {
		return nil, fmt.Errorf("reading pclntab: %d functions do not fit into %d bytes", n,
			len(t.funcs))
	}
	t.nfunc = int(n)
	if len(t.funcs) < t.nfunc*8+4 {
		return nil, errors.New("reading pclntab: the function table is cut off")
	}
	return t, nil
}

// Len returns the number of functions.
func (t *Table) Len() int { return t.nfunc }

// All yields the functions in the order of addresses, as far as
// the table is not damaged.
func (t *Table) All() iter.Seq[Func] {
	return func(yield func(Func) bool) {
		for i := range t.nfunc {
			if f, ok := t.At(i); ok && !yield(f) {
				return
			}
		}
	}
}

// Text returns the bounds of the Go code that the table describes.
func (t *Table) Text() (start, end uint64) { return t.mod.Text, t.mod.EText }

// entry returns the start of function i as an offset from the
// text's start; entry(Len()) is the end of the last function.
func (t *Table) entry(i int) uint32 { return binary.LittleEndian.Uint32(t.funcs[i*8:]) }

// Func returns the function whose code contains pc.
func (t *Table) Func(pc uint64) (Func, bool) {
	if pc < t.mod.Text || pc >= t.mod.EText || pc-t.mod.Text > 1<<32-1 {
		return Func{}, false
	}
	off := uint32(pc - t.mod.Text)
	i := sort.Search(t.nfunc+1, func(i int) bool { return t.entry(i) > off }) - 1
	if i < 0 || i >= t.nfunc {
		return Func{}, false
	}
	return t.At(i)
}

// At returns function number i in the order of addresses, false
// if the table is damaged.
func (t *Table) At(i int) (Func, bool) {
	if i < 0 || i >= t.nfunc {
		return Func{}, false
	}
	rec := uint64(binary.LittleEndian.Uint32(t.funcs[i*8+4:]))
	if rec+recordSize > uint64(len(t.funcs)) {
		return Func{}, false
	}
	f := Func{
		table: t,
		rec:   t.funcs[rec:],
		Entry: t.mod.Text + uint64(t.entry(i)),
		End:   t.mod.Text + uint64(t.entry(i+1)),
	}
	f.ID, f.Flags = FuncID(f.rec[40]), Flags(f.rec[41])
	return f, f.End >= f.Entry
}

// Find returns the functions of these names that the program
// has, in one pass over the table.
func (t *Table) Find(names ...string) map[string]Func {
	want := make(map[string]bool, len(names))
	for _, n := range names {
		want[n] = true
	}
	found := make(map[string]Func, len(names))
	for f := range t.All() {
		if b := cstring(t.funcname, f.word(4)); want[string(b)] {
			found[string(b)] = f
		}
		if len(found) == len(want) {
			break
		}
	}
	return found
}

// cstring returns the text at off up to the zero byte; nil if
// there is none.
func cstring(b []byte, off uint32) []byte {
	if uint64(off) >= uint64(len(b)) {
		return nil
	}
	b = b[off:]
	if len(b) > maxName {
		b = b[:maxName]
	}
	n := bytes.IndexByte(b, 0)
	if n < 0 {
		return nil
	}
	return b[:n]
}

// intern returns the string at off of part; the same string each time.
func (t *Table) intern(m map[uint32]string, part []byte, off uint32) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, ok := m[off]
	if !ok {
		s = string(cstring(part, off))
		m[off] = s
	}
	return s
}
