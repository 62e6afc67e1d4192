package heap

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
	"github.com/cpprof/cpprof/sampler/target/gostate"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

const (
	arenaShift = 26 // 64 MB
	arenaPages = 1 << (arenaShift - goruntime.PageShift)
	arenaWords = 1 << (arenaShift - 3)

	maxSpans  = 1 << 24
	maxArenas = 1 << 22 // how far the heap may be spread: 256 TB
	maxElem   = 1 << 40
)

// A span is a part of the target's heap with objects of one size.
type span struct {
	base, limit uint64
	elem        uint64
	multiplier  uint64 // replaces the division by elem
	specials    uint64
	pins        uint64
	nelems      uint32
	noscan      bool
	queued      bool
	at          int64 // where its copy begins
}

func (s *span) size() int { return int(s.limit - s.base) }

// object returns the address of the object that contains an address.
func (s *span) object(w uint64) uint64 {
	if s.nelems == 1 {
		return s.base
	}
	return s.base + (w-s.base)*s.multiplier>>32*s.elem
}

// A bitmap has a bit for each word of an arena.
type bitmap [arenaWords / 64]uint64

// bitOf returns the index of an object's bit in a bitmap, and the bit.
func bitOf(object uint64) (i uint64, bit uint64) {
	k := object & (1<<arenaShift - 1) >> 3
	return k >> 6, 1 << (k & 63)
}

// An arena is what is known of 64 MB of the target's address
// space. Its 2 MB take memory only where they are used.
type arena struct {
	page [arenaPages]uint32 // index of the span + 1
	mark bitmap
	done bitmap // marked and scanned in this pass
}

const arenaMemory = 2*arenaWords/8 + 4*arenaPages

// spans are the target's spans with objects. Marks outlive a
// reading of the table.
type spans struct {
	list   []span
	lo     uint64 // of the first arena
	size   uint64
	arenas []*arena
	all    map[uint64]*arena

	inUse, scannable int64 // bytes
	corrupt          int   // spans that make no sense. While the target runs, some are being set up
}

// A spanLayout is how a release lays out spans.
type spanLayout struct {
	*layout.Span
	release goruntime.Release
}

// read reads the table of spans. It takes marks away where a
// span has become another one.
func (h *spans) read(c gostate.Copier, mheap uint64, at *layout.Heap, l spanLayout,
	maxMemory int64) error {
	addrs, ok := c.Slice(mheap+uint64(at.AllSpans), maxSpans)
	if !ok {
		return fmt.Errorf("reading the heap: its table of spans can't be read")
	}
	old := h.list
	h.list = make([]span, 0, max(len(old)+len(old)/8, len(addrs)/2))
	h.inUse, h.scannable, h.corrupt = 0, 0, 0
	for _, b := range c.Structs(addrs, int(l.Size)) {
		s, inUse, ok := l.decode(b)
		if !ok {
			h.corrupt++
		}
		if !ok || !inUse {
			continue
		}
		h.list = append(h.list, s)
		h.inUse += int64(s.size())
		if !s.noscan {
			h.scannable += int64(s.size())
		}
	}
	slices.SortFunc(h.list, func(a, b span) int { return cmp.Compare(a.base, b.base) })
	for i := 1; i < len(h.list); i++ {
		if h.list[i].base < h.list[i-1].limit {
			h.corrupt++
			h.list[i-1].limit = h.list[i].base
		}
	}
	return h.index(old, maxMemory)
}

// decode decodes a span. It returns false as the last result if
// the span makes no sense.
func (l spanLayout) decode(b []byte) (s span, inUse, ok bool) {
	if b == nil {
		return s, false, false
	}
	if b[l.State] != goruntime.SpanInUse {
		return s, false, true
	}
	s = span{
		base: memory.Word(b, l.StartAddr), elem: memory.Word(b, l.ElemSize),
		noscan:   b[l.SpanClass]&1 != 0,
		specials: memory.Word(b, l.Specials), pins: memory.Word(b, l.PinnerBits),
	}
	s.nelems = uint32(memory.Word(b, l.NElems))
	if l.release.Line >= 22 {
		s.nelems = uint32(binary.LittleEndian.Uint16(b[l.NElems:]))
	}
	const maxPages = maxElem >> goruntime.PageShift
	pages := memory.Word(b, l.NPages)
	end := s.base + pages<<goruntime.PageShift
	if s.base == 0 || s.base&(1<<goruntime.PageShift-1) != 0 || pages == 0 || pages > maxPages ||
		end < s.base || s.nelems == 0 {
		return s, true, false
	}
	s.limit = end
	if s.nelems == 1 {
		if used := memory.Word(b, l.Limit); used > s.base && used < end {
			s.limit = (used + 7) &^ 7
		}
		s.elem = s.limit - s.base
		return s, true, true
	}
	if s.elem < 8 || s.elem > goruntime.MaxSmallObject || s.elem%8 != 0 ||
		uint64(s.nelems)*s.elem > end-s.base {
		return s, true, false
	}
	s.limit = s.base + uint64(s.nelems)*s.elem
	// The product is exact as long as its error stays below 2^32.
	s.multiplier = uint64(^uint32(0)/uint32(s.elem) + 1)
	return s, true, (s.multiplier*s.elem-1<<32)*(s.limit-s.base) < 1<<32
}

// index makes the spans findable by address.
func (h *spans) index(old []span, maxMemory int64) error {
	if len(h.list) == 0 {
		return fmt.Errorf("reading the heap: it has no spans in use")
	}
	if h.all == nil {
		h.all = map[uint64]*arena{}
	}
	first, last := h.list[0].base>>arenaShift, (h.list[len(h.list)-1].limit-1)>>arenaShift
	if last-first > maxArenas {
		return fmt.Errorf("reading the heap: it is spread over %d TB", (last-first)>>14)
	}
	h.lo, h.size = first<<arenaShift, (last-first+1)<<arenaShift
	h.arenas = make([]*arena, last-first+1)
	for _, a := range h.all {
		clear(a.page[:])
	}
	for i := range h.list {
		s := &h.list[i]
		for page := s.base >> goruntime.PageShift; page <= (s.limit-1)>>goruntime.PageShift; page++ {
			a, err := h.arena(page>>(arenaShift-goruntime.PageShift), maxMemory)
			if err != nil {
				return err
			}
			a.page[page&(arenaPages-1)] = uint32(i + 1)
		}
	}
	h.forgetChanged(old)
	return nil
}

// arena returns an arena of the index, given its number.
func (h *spans) arena(number uint64, maxMemory int64) (*arena, error) {
	at := &h.arenas[number-h.lo>>arenaShift]
	if *at != nil {
		return *at, nil
	}
	a := h.all[number]
	if a == nil {
		if int64(len(h.all)+1)*arenaMemory > maxMemory {
			return nil, &MemoryError{Limit: maxMemory}
		}
		a = &arena{}
		h.all[number] = a
	}
	*at = a
	return a, nil
}

// A MemoryError reports that marking takes more memory than it may.
type MemoryError struct{ Limit int64 }

func (e *MemoryError) Error() string {
	return fmt.Sprintf("marking its heap takes more than %d MB of memory: raise --max-memory",
		e.Limit>>20)
}

// forgetChanged takes the marks of spans away that have gone or
// have changed.
func (h *spans) forgetChanged(old []span) {
	j := 0
	for i := range old {
		o := &old[i]
		for j < len(h.list) && h.list[j].base < o.base {
			j++
		}
		if j < len(h.list) && h.list[j].base == o.base && h.list[j].elem == o.elem &&
			h.list[j].noscan == o.noscan {
			continue
		}
		// a word of the bitmap never belongs to two spans
		for w := o.base; w < o.limit; w += 64 * 8 {
			if a := h.all[w>>arenaShift]; a != nil {
				i, _ := bitOf(w)
				a.mark[i] = 0
			}
		}
	}
}

// forget takes all marks away.
func (h *spans) forget() {
	for _, a := range h.all {
		a.mark = bitmap{}
	}
}

// find returns the span that contains an address, and the
// address of the object there.
func (h *spans) find(w uint64) (s *span, object uint64) {
	d := w - h.lo
	if d >= h.size {
		return nil, 0
	}
	a := h.arenas[d>>arenaShift]
	if a == nil {
		return nil, 0
	}
	i := a.page[d>>goruntime.PageShift&(arenaPages-1)]
	if i == 0 {
		return nil, 0
	}
	if s = &h.list[i-1]; w >= s.limit || w < s.base {
		return nil, 0
	}
	return s, s.object(w)
}

// marked reports whether the object at an address is marked, and
// whether there is one.
func (h *spans) marked(w uint64) (marked, exists bool) {
	s, object := h.find(w)
	if s == nil {
		return false, false
	}
	i, bit := bitOf(object)
	return h.arenas[(object-h.lo)>>arenaShift].mark[i]&bit != 0, true
}
