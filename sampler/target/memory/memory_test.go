package memory

import "testing"

func TestArena(t *testing.T) {
	var a Arena
	a.Reserve(3 << 20)
	if a.Size() != 3<<20 {
		t.Errorf("%d bytes reserved", a.Size())
	}
	for _, n := range []int{1, 8, 9, 1 << 20, 5 << 20, 100} {
		if b := a.Get(n); len(b) != n || cap(b) != n {
			t.Errorf("got %d bytes of %d", len(b), n)
		}
	}
	a.Reset()
	a.Trim(2 << 20)
	if a.Size() != 2<<20 {
		t.Errorf("%d bytes left", a.Size())
	}
}

func TestCopy(t *testing.T) {
	c := Copy{{Addr: 0x1000, Buf: []byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0}}, {Addr: 0x2000, Buf: make([]byte, 4)}}
	if base, data := c.Segment(0x1009); base != 0x1000 || len(data) != 10 {
		t.Errorf("got %d bytes from %#x", len(data), base)
	}
	for addr, want := range map[uint64]uint64{0x1000: 1, 0x1002: 2 << 48} {
		if w, ok := c.Word(addr); !ok || w != want {
			t.Errorf("the word at %#x is %#x (%v), want %#x", addr, w, ok, want)
		}
	}
	for _, addr := range []uint64{0xfff, 0x1003, 0x100a, 0x2000, 1<<64 - 1} {
		if w, ok := c.Word(addr); ok {
			t.Errorf("a word at %#x, of which a part is not there: %#x", addr, w)
		}
	}
}
