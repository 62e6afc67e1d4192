package heap

import (
	"encoding/binary"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
	"github.com/cpprof/cpprof/sampler/target/gostate"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// roots are what keeps objects alive, besides goroutines.
type roots struct {
	words    [][]uint64
	weak     []weak
	contents []uint64 // objects whose contents count, but not they themselves
	pinned   []uint64
	skip     []uint64 // objects with pointers that don't count
	doubts   []string
}

// A weak is a weak pointer: who has the handle can get the object.
type weak struct{ handle, object uint64 }

const (
	maxModules    = 1 << 10
	maxGlobals    = 1 << 32
	maxProcessors = 1 << 14
	maxBlocks     = 1 << 20
	timersSize    = 64
)

// readRoots reads roots. The spans are from the same moment.
func (x *Examination) readRoots(c gostate.Copier) *roots {
	r := &roots{}
	x.readGlobals(c, r)
	x.readTimers(c, r)
	x.readSpecials(c, r)
	x.readPins(c, r)
	g := &x.bin.Globals
	r.readBlocks(c, c.Word(g.AllFin), goruntime.FinBlockSize, goruntime.FinBlockLink)
	if at := x.bin.Layout.Cleanups.All; at.Has() {
		r.readBlocks(c, c.Word(g.GCCleanups+uint64(at)), goruntime.CleanupBlockSize,
			goruntime.CleanupBlockLink)
	}
	return r
}

// doubt takes note of a reason why nothing can be claimed.
func (r *roots) doubt(why string) { r.doubts = append(r.doubts, why) }

// readGlobals reads the variables of all modules.
func (x *Examination) readGlobals(c gostate.Copier, r *roots) {
	l := &x.bin.Layout.Module
	at := x.bin.Module
	for n := 0; at != 0; n++ {
		b := c.Get(at, int(l.Size))
		if b == nil || n == maxModules {
			r.doubt("the program's variables can't be read")
			return
		}
		x.readSection(c, r, b, l.Data, l.EData, l.GCDataMask)
		x.readSection(c, r, b, l.BSS, l.EBSS, l.GCBSSMask)
		at = memory.Word(b, l.Next)
	}
}

// readSection reads a section of variables. The mask has a bit
// for each word that has a pointer.
func (x *Examination) readSection(c gostate.Copier, r *roots, module []byte,
	from, to, maskAt layout.Offset) {
	lo, hi := memory.Word(module, from), memory.Word(module, to)
	if hi == lo {
		return
	}
	if hi < lo || hi-lo > maxGlobals {
		r.doubt("the program's variables make no sense")
		return
	}
	b := c.Get(lo, int(hi-lo)&^7)
	if b == nil {
		r.doubt("the program's variables can't be read")
		return
	}
	ws := gostate.Words(b)
	bits := int(memory.Half(module, maskAt))
	mask := x.mask(c, memory.Word(module, int(maskAt)+8), (min(bits, len(ws))+7)/8)
	if mask == nil {
		r.words = append(r.words, ws) // all of them may have pointers
		return
	}
	pointers := ws[:0]
	for i := range min(bits, len(ws)) {
		if mask[i/8]>>(i%8)&1 != 0 && ws[i] != 0 {
			pointers = append(pointers, ws[i])
		}
	}
	r.words = append(r.words, pointers)
}

// mask reads a mask, which never changes.
func (x *Examination) mask(c gostate.Copier, at uint64, n int) []byte {
	if m := x.masks[at]; len(m) == n {
		return m
	}
	m := c.Get(at, n)
	if m != nil {
		x.masks[at] = append([]byte(nil), m...)
	}
	return m
}

// readTimers reads the timers of the processors. All else in a
// processor may be stale.
func (x *Examination) readTimers(c gostate.Copier, r *roots) {
	ps, ok := c.Slice(x.bin.Globals.AllP, maxProcessors)
	if !ok {
		r.doubt("the runtime's processors can't be read")
		return
	}
	for i, b := range c.Structs(ps, int(x.bin.Layout.P.Timers)+timersSize) {
		r.skip = append(r.skip, ps[i])
		if b == nil {
			r.doubt("the runtime's processors can't be read")
			continue
		}
		r.words = append(r.words, gostate.Words(b[x.bin.Layout.P.Timers:]))
	}
}

// readBlocks reads a list of blocks of functions that are to run.
func (r *roots) readBlocks(c gostate.Copier, at uint64, size, link int) {
	for n := 0; at != 0; n++ {
		b := c.Get(at, size)
		if b == nil || n == maxBlocks {
			r.doubt("the finalizers that are to run can't be read")
			return
		}
		r.words = append(r.words, gostate.Words(b))
		at = memory.Word(b, link)
	}
}

// A specialOf is a special, and the span of its object.
type specialOf struct {
	span *span
	at   uint64
}

// readSpecials reads finalizers, cleanups and weak pointers.
// Each span has a list of them. The first ones of all lists are
// read together, then the second ones, and so on.
func (x *Examination) readSpecials(c gostate.Copier, r *roots) {
	var todo []specialOf
	for i := range x.h.list {
		if s := &x.h.list[i]; s.specials != 0 {
			todo = append(todo, specialOf{s, s.specials})
		}
	}
	var addrs []uint64
	l := &x.bin.Layout.Special
	for read := 0; len(todo) > 0; {
		addrs = addrs[:0]
		for _, s := range todo {
			addrs = append(addrs, s.at)
		}
		n := 0
		for i, b := range x.specials(c, addrs) {
			if b == nil {
				r.doubt("the finalizers of objects can't be read")
				continue
			}
			x.addSpecial(r, todo[i].span, b)
			if next := memory.Word(b, l.Next); next != 0 {
				todo[n] = specialOf{todo[i].span, next}
				n++
			}
		}
		todo = todo[:n]
		if read += len(addrs); read > maxSpecials {
			r.doubt("objects have too many finalizers")
			return
		}
	}
}

// maxSpecials is how many specials are read.
const maxSpecials = 1 << 24

// specials reads specials. The last ones in memory may be shorter.
func (x *Examination) specials(c gostate.Copier, addrs []uint64) [][]byte {
	all := c.Structs(addrs, goruntime.SpecialSize)
	for i, b := range all {
		if b == nil {
			all[i] = c.Get(addrs[i], int(x.bin.Layout.Special.Size)+8)
		}
	}
	return all
}

// addSpecial adds what a special keeps.
func (x *Examination) addSpecial(r *roots, s *span, b []byte) {
	l := &x.bin.Layout.Special
	off := memory.Word(b, l.Offset)
	if x.bin.Release.Line < 24 {
		off = uint64(binary.LittleEndian.Uint16(b[l.Offset:]))
	}
	if off >= uint64(s.size()) {
		r.doubt("a finalizer's object makes no sense")
		return
	}
	object := s.object(s.base + off)
	after := b[int(l.Size):]
	switch x.bin.Release.SpecialKindOf(b[l.Kind]) {
	case goruntime.SpecialFinalizer: // it gets the object
		r.words = append(r.words, gostate.Words(after))
		if !s.noscan {
			r.contents = append(r.contents, object)
		}
	case goruntime.SpecialCleanup:
		r.words = append(r.words, gostate.Words(after))
	case goruntime.SpecialWeak:
		r.weak = append(r.weak, weak{memory.Word(after, 0), object})
	}
}

// readPins reads which objects are pinned for C: two bits for each.
func (x *Examination) readPins(c gostate.Copier, r *roots) {
	var of []*span
	var ranges []memory.Range
	for i := range x.h.list {
		if s := &x.h.list[i]; s.pins != 0 {
			of = append(of, s)
			ranges = append(ranges,
				memory.Range{Addr: s.pins, Buf: c.Arena.Get((int(s.nelems)*2 + 7) / 8)})
		}
	}
	if c.Reader.ReadRanges(ranges) > 0 {
		r.doubt("which objects are pinned can't be read")
		return
	}
	for i, s := range of {
		for k := range int(s.nelems) {
			if ranges[i].Buf[k/4]>>(k%4*2)&1 != 0 {
				r.pinned = append(r.pinned, s.base+uint64(k)*s.elem)
			}
		}
	}
}
