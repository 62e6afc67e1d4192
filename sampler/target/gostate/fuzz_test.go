package gostate

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// base is where the memory of the tests begins.
const base = 0x1000

// pieces is memory at base.
type pieces []byte

func (p pieces) ReadRanges(rs []memory.Range) (failed int) {
	for i := range rs {
		n := 0
		if off := rs[i].Addr - base; off < uint64(len(p)) {
			n = copy(rs[i].Buf, p[off:])
		}
		if n < len(rs[i].Buf) {
			failed++
		}
		rs[i].Buf = rs[i].Buf[:n]
	}
	return failed
}

func (p pieces) read(addr uint64, b []byte) error {
	if p.ReadRanges([]memory.Range{{Addr: addr, Buf: b}}) > 0 {
		return errors.New("not there")
	}
	return nil
}

// words are words of memory, one after the other.
func words(ws ...uint64) (b []byte) {
	for _, w := range ws {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// Neighbours are read together, and what can't be read does no
// harm to others.
func TestStructs(t *testing.T) {
	c := Copier{Reader: pieces(words(1, 2, 3, 4)), Arena: &memory.Arena{}}
	got := c.Structs([]uint64{base + 16, 1 << 40, base, base + 24, base + 28}, 8)
	for i, want := range []uint64{3, 0, 1, 4, 0} {
		if memory.Word(got[i], 0) != want || (got[i] == nil) != (want == 0) {
			t.Errorf("struct %d is %x, want %d", i, got[i], want)
		}
	}
}

// Whatever the memory has, reading it ends, and stays within bounds.
func FuzzState(f *testing.F) {
	f.Add(words(base+16, 1, base+48, 1, base+48, 1, 'k'))                   // a label
	f.Add(append(words(base+16, 2<<8, base, base), make([]byte, 1<<10)...)) // a map of labels
	f.Add(append(words(0, base+8, base+16, base), make([]byte, 64<<8)...))  // a circle of sudogs
	f.Fuzz(func(t *testing.T, data []byte) {
		p := pieces(data)
		for _, areList := range []bool{true, false} {
			if set, _ := Labels(p.read, base, areList); len(set) > maxLabels {
				t.Errorf("%d labels", len(set))
			}
		}
		sudog := layout.Sudog{Size: 64, G: 0, Next: 8, Prev: 16, Elem: 24, WaitLink: 32,
			ElemAddr: layout.Missing}
		c := Copier{Reader: p, Arena: &memory.Arena{}}
		table := c.Get(base, min(len(data), goruntime.SemaRoots*goruntime.SemaRootSize("amd64")))
		if _, all := c.Semaphores(table, &sudog, 100); len(all) > 100 {
			t.Errorf("%d sudogs", len(all))
		}
	})
}
