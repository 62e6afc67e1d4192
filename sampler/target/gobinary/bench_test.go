//go:build linux && amd64

package gobinary_test

import (
	"testing"

	"github.com/cpprof/cpprof/sampler/target/gobinary/pclntab"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
)

// copied is memory of which only one goroutine's stack was copied.
type copied struct {
	base uint64
	data []byte
}

func (c *copied) Segment(addr uint64) (uint64, []byte) {
	if addr < c.base || addr >= c.base+uint64(len(c.data)) {
		return 0, nil
	}
	return c.base, c.data
}

// deepStack returns the context and the memory of a parked
// goroutine with about so many physical frames.
func deepStack(b testing.TB, p *process, u *unwind.Unwinder, atLeast, atMost int) (unwind.Context, *copied) {
	for _, addr := range p.gs() {
		p.cache = map[uint64][]byte{}
		g := p.goroutine(addr)
		frames, res := u.Unwind(nil, p, &g.ctx)
		if len(frames) < atLeast || len(frames) > atMost || res != (unwind.Result{}) {
			continue
		}
		mem := &copied{base: g.ctx.SchedSP, data: p.read(g.ctx.SchedSP, int(g.ctx.StackHi-g.ctx.SchedSP))}
		b.Logf("%d physical frames, %d logical", len(frames), len(logical(u, frames)))
		return g.ctx, mem
	}
	b.Fatal("no stack of that depth")
	return unwind.Context{}, nil
}

// BenchmarkUnwind unwinds one stack of about 15 physical frames,
// and returns its logical frames.
func BenchmarkUnwind(b *testing.B) {
	p := start(b, build(b, "target"))
	u := newUnwinder(p)
	ctx, mem := deepStack(b, p, u, 14, 20)
	var dst []unwind.Frame
	logical := 0
	b.Run("walk", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst, _ = u.Unwind(dst[:0], mem, &ctx)
		}
	})
	b.Run("walk+symbolise", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst, _ = u.Unwind(dst[:0], mem, &ctx)
			for _, f := range dst {
				logical += len(u.Frames(f.Site))
			}
		}
	})
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			u := newUnwinder(p)
			dst, _ = u.Unwind(dst[:0], mem, &ctx)
			for _, f := range dst {
				logical += len(u.Frames(f.Site))
			}
		}
	})
}

// BenchmarkTable looks up addresses all over the text.
func BenchmarkTable(b *testing.B) {
	p := start(b, build(b, "target"))
	lo, hi := p.bin.Table.Text()
	next := func(pc uint64) uint64 {
		if pc += 997; pc >= hi {
			return lo + pc%997
		}
		return pc
	}
	b.Run("func", func(b *testing.B) {
		pc := lo
		for b.Loop() {
			p.bin.Table.Func(pc)
			pc = next(pc)
		}
	})
	b.Run("frames", func(b *testing.B) {
		var dst []pclntab.Frame
		pc := lo
		for b.Loop() {
			dst, _ = p.bin.Table.Frames(dst[:0], pc)
			pc = next(pc)
		}
	})
}

// BenchmarkOpen reads an executable with and without symbols.
func BenchmarkOpen(b *testing.B) {
	for _, mode := range []string{"plain", "stripped"} {
		b.Run(mode, func(b *testing.B) {
			path := build(b, "target", modes[mode]...)
			for b.Loop() {
				openFile(b, path)
			}
		})
	}
}

// TestNoAllocation checks that unwinding a stack allocates
// nothing if its places in the code are known.
func TestNoAllocation(t *testing.T) {
	p := start(t, build(t, "target"))
	u := newUnwinder(p)
	ctx, mem := deepStack(t, p, u, 14, 20)
	var dst []unwind.Frame
	walk := func() {
		dst, _ = u.Unwind(dst[:0], mem, &ctx)
		for _, f := range dst {
			u.Frames(f.Site)
		}
	}
	walk()
	if n := testing.AllocsPerRun(100, walk); n != 0 {
		t.Errorf("%v allocations per stack", n)
	}
}

// TestCut unwinds a stack that is deeper than the limit.
func TestCut(t *testing.T) {
	p := start(t, build(t, "target"))
	u := newUnwinder(p)
	ctx, mem := deepStack(t, p, u, 100, unwind.MaxDepth)
	u.SetMaxDepth(40)
	frames, res := u.Unwind(nil, mem, &ctx)
	if len(frames) != 40 || !res.Cut || res.Torn {
		t.Errorf("got %d frames, %+v; want 40, cut", len(frames), res)
	}
}
