//go:build linux && (amd64 || arm64)

package snapshot

import (
	"math/rand/v2"
	"slices"

	"github.com/cpprof/cpprof/sampler/internal/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/memory"
)

// Sizes of what is copied.
const (
	maxStack   = 1 << 20 // of one stack; the rest at the root's end is not looked at
	maxBatch   = 4 << 20 // of the stacks that are read at once without a halt
	maxInBatch = 512     // goroutines, likewise
	tries      = 3       // to read a stack that moves
)

// parked reads the goroutines and the stacks that lie still, without a halt. Afterwards each slot has a view: absent,
// known, or moving.
func (b *Backend) parked() error {
	b.fresh = b.fresh[:0]
	if err := b.table.grow(b.t.Process, b.t.bin.Globals.AllGs); err != nil {
		return err
	}
	b.finder.Grow(len(b.table.slots))
	if err := b.table.read(b.reader, b.scan); err != nil {
		return err
	}
	b.copyStacks()
	b.recheck()
	return nil
}

// scan looks at the g of a span that was just read.
func (b *Backend) scan(buf []byte, places []place) {
	o := &b.t.g
	for i := range places {
		p := &places[i]
		raw := buf[p.at:][:o.size]
		if p.print != 0 && p.print == o.print(raw) && b.settled(p) {
			if p.known {
				b.reused++
			}
			continue
		}
		p.print = 0
		s := &b.table.slots[p.slot]
		switch {
		case s.view == known && o.unchanged(raw, &s.head):
			if len(b.fresh) < maxInBatch && b.finder.WantsStack(p.slot) {
				b.table.keep(s, raw)
				b.touch(p.slot)
				b.fresh = append(b.fresh, p.slot)
				break
			}
			b.reused++
			if !b.sort(p.slot, s) && (s.head.status == goruntime.GWaiting || s.head.status == goruntime.GLeaked) {
				p.print, p.known, p.answered = o.print(raw), true, b.finder.Answered(p.slot)
			}
		case s.view == absent && !s.told && o.unchanged(raw, &s.head) && !s.head.exists():
			p.print, p.known = o.print(raw), false // still nothing there
		default:
			b.table.keep(s, raw)
			b.classify(p.slot, s)
		}
	}
}

// settled tells whether nothing is left to be found out about a goroutine that rests.
func (b *Backend) settled(p *place) bool {
	return !p.known || b.finder.Interest()&^p.answered == 0
}

// classify looks at a goroutine that is not as it was.
func (b *Backend) classify(i int32, s *slot) {
	h := b.t.g.decode(s.raw)
	b.touch(i)
	if h.status == goruntime.GWaiting {
		b.finder.Parked(b.t.reason(&h).Awaits)
	}
	switch {
	case !h.exists():
		s.view = absent
		if !s.told { // else its end is still to be told, and the head says whose
			s.head = h
		}
	case !h.still():
		s.view = moving
		b.moving = append(b.moving, i)
	case s.view != absent && s.head.sameStack(&h):
		b.renew(s, &h)
		s.view = known
		b.reused++
		b.sort(i, s)
	default:
		b.fresh = append(b.fresh, i)
	}
}

// sort notes a goroutine whose stack is known for what else is to be found out about it, and tells whether that is
// anything.
func (b *Backend) sort(i int32, s *slot) bool {
	switch {
	case s.head.status == goruntime.GRunnable:
		b.runnable = append(b.runnable, i)
	case s.head.status == goruntime.GSyscall:
		b.inSyscall = append(b.inSyscall, i)
	default:
		waits := s.head.status == goruntime.GWaiting && b.t.reason(&s.head).Awaits == goruntime.AwaitsLock
		return b.finder.AtHalt(i, waits)
	}
	return true
}

// renew takes over a newer head of a slot. One of another goroutine ends that of the slot.
func (b *Backend) renew(s *slot, h *head) {
	if s.told && s.head.goid != h.goid {
		b.gone(s)
	}
	if s.head.m != h.m || s.head.seq != h.seq { // an m can lie where another one was
		s.tid = 0
	}
	s.head = *h
}

// copyStacks reads and unwinds the stacks of the slots in fresh. What moves meanwhile is left to the halt.
func (b *Backend) copyStacks() {
	for try := 0; len(b.fresh) > 0; try++ {
		var again []int32
		for rest := b.fresh; len(rest) > 0; {
			n := b.copyBatch(rest, try, &again)
			rest = rest[n:]
		}
		b.fresh = append(b.fresh[:0], again...)
	}
}

// copyBatch reads some of the stacks, and says how many.
func (b *Backend) copyBatch(batch []int32, try int, again *[]int32) (n int) {
	b.arena.Reset()
	b.ranges, b.heads = b.ranges[:0], b.heads[:0]
	for size := 0; n < len(batch) && n < maxInBatch && size < maxBatch; n++ {
		s := &b.table.slots[batch[n]]
		h := b.t.g.decode(s.raw)
		b.heads = append(b.heads, h)
		r := stackRange(&h, h.sp(), &b.arena)
		size += len(r.Buf)
		b.ranges = append(b.ranges, r)
	}
	b.reader.ReadRanges(b.ranges)
	// A stack counts if the goroutine did not move from before the copy to after it.
	b.after = b.after[:0]
	for _, i := range batch[:n] {
		s := &b.table.slots[i]
		b.after = append(b.after, memory.Range{Addr: s.addr, Buf: s.raw})
	}
	b.reader.ReadRanges(b.after)
	for k, i := range batch[:n] {
		b.settle(i, &b.heads[k], b.ranges[k], try, again)
	}
	return n
}

// settle takes over a stack that was copied between two looks at the goroutine.
func (b *Backend) settle(i int32, h *head, r memory.Range, try int, again *[]int32) {
	s := &b.table.slots[i]
	now := b.t.g.decode(s.raw)
	switch {
	case !now.exists():
		s.view = absent
	case h.sameStack(&now):
		b.renew(s, &now)
		b.unwind(i, memory.Copy{r}, b.context(h), nil)
		s.view = known
		b.sort(i, s)
	case now.still() && try < tries:
		*again = append(*again, i)
	default:
		s.view = moving
		b.moving = append(b.moving, i)
	}
}

// context tells the unwinder of a goroutine that has no thread, or whose thread isn't halted.
func (b *Backend) context(h *head) *unwind.Context {
	b.walk = unwind.Context{
		StackLo: h.lo, StackHi: h.hi, SchedPC: h.schedPC, SchedSP: h.schedSP, SchedLR: h.schedLR,
		SyscallPC: h.sysPC, SyscallSP: h.sysSP,
	}
	return &b.walk
}

// stackRange makes room for a stack from sp on; none where sp doesn't lie in it.
func stackRange(h *head, sp uint64, a *memory.Arena) memory.Range {
	if !h.within(sp) {
		return memory.Range{}
	}
	return memory.Range{Addr: sp, Buf: a.Get(int(min(h.hi-sp, maxStack)))}
}

// rechecked is how many reused stacks a sample reads again.
const rechecked = 4

// recheck reads some stacks again that were taken for unchanged, and counts how many were not.
func (b *Backend) recheck() {
	slots := b.table.slots
	if len(slots) == 0 || b.reused == 0 {
		return
	}
	b.arena.Reset()
	b.again, b.ranges, b.after = b.again[:0], b.ranges[:0], b.after[:0]
	for range rechecked {
		i := int32(rand.IntN(len(slots)))
		s := &slots[i]
		if s.view != known || b.touched(i) || slices.Contains(b.again, i) {
			continue
		}
		b.again = append(b.again, i)
		b.ranges = append(b.ranges, stackRange(&s.head, s.head.sp(), &b.arena))
		s.raw = b.table.kept.Get(b.t.g.size)
		b.after = append(b.after, memory.Range{Addr: s.addr, Buf: s.raw})
	}
	b.reader.ReadRanges(b.ranges)
	b.reader.ReadRanges(b.after)
	for k, i := range b.again {
		s := &slots[i]
		if len(b.after[k].Buf) < b.t.g.size || !b.t.g.unchanged(s.raw, &s.head) {
			continue // it moved just now
		}
		b.rechecked++
		st, _ := b.stacks.unwind(memory.Copy{b.ranges[k]}, b.context(&s.head))
		if st != s.stack {
			b.wrong++
			s.stack = st
			b.see(i, memory.Copy{b.ranges[k]}, nil)
			b.touch(i)
		}
	}
}
