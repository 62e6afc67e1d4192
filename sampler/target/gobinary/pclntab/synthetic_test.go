package pclntab

import (
	"encoding/binary"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// synthetic makes the table of a program with three functions at
// text 0x1000:
//
//	main.main   [0x1000,0x1040) a.go, inlines main.outer at [0x10,0x30), which inlines main.inner at [0x18,0x28)
//	main.leaf   [0x1040,0x1050) b.go, no stack depths, no inlining
//	runtime.end [0x1050,0x1060) top of a stack
func synthetic() ([]byte, Module) {
	var names, files, cu, pctab, funcs []byte
	name := func(s string) uint32 {
		at := uint32(len(names))
		names = append(append(names, s...), 0)
		return at
	}
	file := func(s string) {
		cu = binary.LittleEndian.AppendUint32(cu, uint32(len(files)))
		files = append(append(files, s...), 0)
	}
	pctab = append(pctab, 0) // offset 0 says that there is no table
	// table takes pairs of value and end, relative to the function's entry.
	table := func(pairs ...int) uint32 {
		at := uint32(len(pctab))
		value, pc := -1, 0
		for i := 0; i < len(pairs); i += 2 {
			pctab = binary.AppendVarint(pctab, int64(pairs[i]-value))
			pctab = binary.AppendUvarint(pctab, uint64(pairs[i+1]-pc))
			value, pc = pairs[i], pairs[i+1]
		}
		pctab = append(pctab, 0)
		return at
	}
	file("/src/a.go")
	file("/src/b.go")
	funcs = make([]byte, 4*8) // filled below: entry and record of three functions, end
	record := func(i int, entry uint32, nameOff, pcsp, pcfile, pcln uint32, start int32, flags Flags, pcdata, funcdata []uint32) {
		binary.LittleEndian.PutUint32(funcs[i*8:], entry)
		binary.LittleEndian.PutUint32(funcs[i*8+4:], uint32(len(funcs)))
		words := []uint32{entry, nameOff, 0, 0, pcsp, pcfile, pcln, uint32(len(pcdata)), 0, uint32(start)}
		words = append(words, uint32(flags)<<8|uint32(len(funcdata))<<24)
		for _, w := range append(append(words, pcdata...), funcdata...) {
			funcs = binary.LittleEndian.AppendUint32(funcs, w)
		}
	}
	none := noFuncdata
	outer, inner := name("main.outer"), name("main.inner")
	record(0, 0x00, name("main.main"), table(0, 4, 24, 0x3c, 0, 0x40), table(0, 0x18, 1, 0x28, 0, 0x40),
		table(10, 0x10, 20, 0x18, 30, 0x28, 20, 0x30, 11, 0x40), 9, 0,
		[]uint32{0, 0, table(-1, 0x10, 0, 0x18, 1, 0x28, 0, 0x30, -1, 0x40)}, []uint32{none, none, none, 8})
	record(1, 0x40, name("main.leaf"), 0, table(1, 0x10), table(50, 0x10), 49, Asm, nil, nil)
	record(2, 0x50, name("runtime.end"), table(0, 0x10), table(0, 0x10), table(60, 0x10), 59, TopFrame|Asm, nil, nil)
	binary.LittleEndian.PutUint32(funcs[3*8:], 0x60)

	gofunc := make([]byte, 8+2*inlinedCallSize)
	call := func(i int, nameOff, parent uint32, start int32) {
		b := gofunc[8+i*inlinedCallSize:]
		binary.LittleEndian.PutUint32(b[4:], nameOff)
		binary.LittleEndian.PutUint32(b[8:], parent)
		binary.LittleEndian.PutUint32(b[12:], uint32(start))
	}
	call(0, outer, 0x0c, 19) // called where main.main is at line 10
	call(1, inner, 0x14, 29) // called where main.outer is at line 20

	data := make([]byte, headerSize)
	binary.LittleEndian.PutUint32(data, magic)
	data[6], data[7] = 1, 8
	word := func(i int, v int) { binary.LittleEndian.PutUint64(data[8+8*i:], uint64(v)) }
	word(0, 3)
	word(1, 2)
	for i, part := range [][]byte{names, cu, files, pctab, funcs} {
		word(3+i, len(data))
		data = append(data, part...)
	}
	return data, Module{Text: 0x1000, EText: 0x1060, GoFunc: gofunc}
}

func mustNew(t testing.TB) *Table {
	t.Helper()
	data, mod := synthetic()
	return fixture.Must(New(data, mod))(t)
}
