package heap

import (
	"math/bits"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/gostate"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A marker marks what roots reach. It keeps none of the target's
// memory.
type marker struct {
	r     Reader
	h     *spans
	pace  *pace
	queue []uint32 // indices of spans with marked objects that are to be scanned
	head  int
	buf   []byte

	scanned int64 // bytes of objects
	unread  int   // spans that were not read completely
	useless func() bool
	told    func()
}

const (
	batchBytes = 1 << 20
	batchSpans = 256
	smallSpan  = 32 << 10 // a span up to this size is read with others
)

// restart begins a pass: all that is marked is scanned again.
func (m *marker) restart() {
	h := m.h
	for _, a := range h.arenas {
		if a != nil {
			a.done = bitmap{}
		}
	}
	m.queue, m.head, m.unread = m.queue[:0], 0, 0
	for i := range h.list {
		s := &h.list[i]
		s.queued = false
		for w := s.base; w < s.limit && !s.noscan && !s.queued; w += 64 * 8 {
			k, _ := bitOf(w)
			if h.arenas[(w-h.lo)>>arenaShift].mark[k] != 0 {
				s.queued = true
				m.queue = append(m.queue, uint32(i))
			}
		}
	}
}

// roots marks what words point to.
func (m *marker) roots(ws []uint64) {
	lo, size := m.h.lo, m.h.size
	for _, w := range ws {
		if w-lo < size {
			m.mark(w)
		}
	}
}

// mark marks the object that contains an address.
func (m *marker) mark(w uint64) {
	s, object := m.h.find(w)
	if s == nil {
		return
	}
	a := m.h.arenas[(object-m.h.lo)>>arenaShift]
	i, bit := bitOf(object)
	if a.mark[i]&bit != 0 {
		return
	}
	a.mark[i] |= bit
	if !s.noscan && !s.queued {
		s.queued = true
		m.queue = append(m.queue, uint32(s.number(m.h)))
	}
}

// number returns the index of a span.
func (s *span) number(h *spans) int {
	d := s.base - h.lo
	return int(h.arenas[d>>arenaShift].page[d>>goruntime.PageShift&(arenaPages-1)] - 1)
}

// skip excludes an object from scanning in this pass.
func (m *marker) skip(addr uint64) {
	if s, object := m.h.find(addr); s != nil {
		i, bit := bitOf(object)
		m.h.arenas[(object-m.h.lo)>>arenaShift].done[i] |= bit
	}
}

// drain scans until nothing is left to scan, or until that would
// be useless.
func (m *marker) drain() {
	if m.buf == nil {
		m.buf = make([]byte, batchBytes+smallSpan)
	}
	var ranges []memory.Range
	var batch []uint32
	for rounds := 1; m.head < len(m.queue); rounds++ {
		if rounds%32 == 0 && m.useless() {
			return
		}
		ranges, batch = m.batch(ranges[:0], batch[:0])
		for k, i := range batch {
			m.scan(&m.h.list[i], ranges[k].Buf)
		}
		if m.head > 1<<16 && m.head > len(m.queue)/2 {
			m.queue = append(m.queue[:0], m.queue[m.head:]...)
			m.head = 0
		}
		m.told()
		m.pace.spent()
	}
}

// batch takes spans from the queue, and reads them.
func (m *marker) batch(ranges []memory.Range, batch []uint32) ([]memory.Range, []uint32) {
	for used := 0; m.head < len(m.queue) && len(batch) < batchSpans && used < batchBytes; {
		i := m.queue[m.head]
		s := &m.h.list[i]
		if s.size() > smallSpan {
			if len(batch) > 0 {
				break
			}
			m.head++
			s.queued = false
			m.scanLarge(s)
			continue
		}
		m.head++
		ranges = append(ranges, memory.Range{Addr: s.base, Buf: m.buf[used:][:s.size()]})
		batch = append(batch, i)
		used += s.size()
	}
	m.unread += m.r.ReadRanges(ranges)
	return ranges, batch
}

// scan scans the marked objects of a span, including those that
// this marks.
func (m *marker) scan(s *span, data []byte) {
	ws := gostate.Words(data)
	for again := true; again; {
		again = false
		for off := uint64(0); off < s.limit-s.base; off += 64 * 8 {
			a := m.h.arenas[(s.base+off-m.h.lo)>>arenaShift]
			i, _ := bitOf(s.base + off)
			for grey := a.mark[i] &^ a.done[i]; grey != 0; grey = a.mark[i] &^ a.done[i] {
				bit := grey & -grey
				a.done[i] |= bit
				k := off>>3 + uint64(bits.TrailingZeros64(bit))
				end := min(k+s.elem>>3, uint64(len(ws)))
				if k >= end {
					continue
				}
				m.scanned += int64(end-k) * 8
				again = true
				m.roots(ws[k:end])
			}
		}
	}
	s.queued = false
}

// scanLarge scans the object of a large span.
func (m *marker) scanLarge(s *span) {
	if s.nelems > 1 { // spans of middle-sized objects
		data := make([]byte, s.size())
		r := [1]memory.Range{{Addr: s.base, Buf: data}}
		m.unread += m.r.ReadRanges(r[:])
		m.scan(s, r[0].Buf)
		return
	}
	a := m.h.arenas[(s.base-m.h.lo)>>arenaShift]
	i, bit := bitOf(s.base)
	if a.mark[i]&bit == 0 || a.done[i]&bit != 0 {
		return
	}
	a.done[i] |= bit
	for off := 0; off < s.size() && m.pace.ctx.Err() == nil; off += batchBytes {
		n := min(batchBytes, s.size()-off)
		r := [1]memory.Range{{Addr: s.base + uint64(off), Buf: m.buf[:n]}}
		m.unread += m.r.ReadRanges(r[:])
		m.scanned += int64(len(r[0].Buf))
		m.roots(gostate.Words(r[0].Buf))
		m.told()
		m.pace.spent()
	}
}
