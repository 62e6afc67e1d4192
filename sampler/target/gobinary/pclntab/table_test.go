package pclntab

import (
	"bytes"
	"slices"
	"testing"
)

func TestFrames(t *testing.T) {
	table := mustNew(t)
	main := Frame{Func: "main.main", File: "/src/a.go", Line: 10, StartLine: 9}
	outer := Frame{Func: "main.outer", File: "/src/a.go", Line: 20, StartLine: 19, Inlined: true}
	inner := Frame{Func: "main.inner", File: "/src/b.go", Line: 30, StartLine: 29, Inlined: true}
	last := main
	last.Line = 11
	for _, c := range []struct {
		pc   uint64
		want []Frame
	}{
		{0xfff, nil},
		{0x1000, []Frame{main}},
		{0x1010, []Frame{outer, main}},
		{0x1020, []Frame{inner, outer, main}},
		{0x102f, []Frame{outer, main}},
		{0x103f, []Frame{last}},
		{0x1040, []Frame{{Func: "main.leaf", File: "/src/b.go", Line: 50, StartLine: 49}}},
		{0x105f, []Frame{{Func: "runtime.end", File: "/src/a.go", Line: 60, StartLine: 59}}},
		{0x1060, nil},
	} {
		if got, ok := table.Frames(nil, c.pc); !slices.Equal(got, c.want) || ok != (c.want != nil) {
			t.Errorf("%#x: got %+v, %v; want %+v", c.pc, got, ok, c.want)
		}
	}
}

func TestSPDelta(t *testing.T) {
	table := mustNew(t)
	for _, c := range []struct {
		pc   uint64
		want int32
		ok   bool
	}{{0x1000, 0, true}, {0x1003, 0, true}, {0x1004, 24, true}, {0x103b, 24, true}, {0x103c, 0, true}, {0x1044, -1, false}} {
		f, _ := table.Func(c.pc)
		if got, ok := f.SPDelta(c.pc); got != c.want || ok != c.ok {
			t.Errorf("%#x: got %d, %v; want %d, %v", c.pc, got, ok, c.want, c.ok)
		}
	}
}

func TestFind(t *testing.T) {
	found := mustNew(t).Find("runtime.end", "main.main", "main.absent", "main.inner")
	if len(found) != 2 || found["main.main"].Entry != 0x1000 || found["runtime.end"].Flags != TopFrame|Asm {
		t.Errorf("found %+v", found)
	}
}

// TestNewRefuses breaks one thing of a good table at a time.
func TestNewRefuses(t *testing.T) {
	good, mod := synthetic()
	for name, damage := range map[string]func(b []byte) []byte{
		"magic":       func(b []byte) []byte { b[0] = 0xfb; return b },
		"quantum":     func(b []byte) []byte { b[6] = 3; return b },
		"pointers":    func(b []byte) []byte { b[7] = 4; return b },
		"short":       func(b []byte) []byte { return b[:headerSize-1] },
		"part":        func(b []byte) []byte { b[8+8*5+6] = 1; return b },
		"functions":   func(b []byte) []byte { b[8+4] = 1; return b },
		"none":        func(b []byte) []byte { b[8] = 0; return b },
		"cut off":     func(b []byte) []byte { return b[:len(b)-int(len(b))/2] },
		"no last end": func(b []byte) []byte { return b[:int(b[8+8*7])+int(b[8+8*7+1])<<8+3*8+3] },
	} {
		if _, err := New(damage(bytes.Clone(good)), mod); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New(good, Module{Text: 2, EText: 1}); err == nil {
		t.Error("text that ends before it starts: accepted")
	}
}

// FuzzTable reads damaged tables: at worst, a look-up finds nothing.
func FuzzTable(f *testing.F) {
	data, mod := synthetic()
	f.Add(data, mod.GoFunc, uint64(0x1020))
	f.Add(data[:200], []byte{}, uint64(0x1040))
	f.Fuzz(func(t *testing.T, data, gofunc []byte, pc uint64) {
		table, err := New(data, Module{Text: 0x1000, EText: 0x100000, GoFunc: gofunc})
		if err != nil {
			return
		}
		table.Find("main.main")
		for _, pc := range []uint64{pc, 0x1000, 0x1020, 0x1044} {
			frames, ok := table.Frames(nil, pc)
			if ok && len(frames) == 0 || len(frames) > maxInlined+1 {
				t.Fatalf("%d frames at %#x", len(frames), pc)
			}
			if fn, ok := table.Func(pc); ok {
				fn.SPDelta(pc)
				if m, ok := fn.StackMap(pc); ok {
					for _, b := range []Bitmap{m.Locals, m.Args} {
						for i := range b.N {
							b.Has(i)
						}
					}
				}
			}
		}
	})
}
