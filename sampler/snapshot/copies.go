//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"

	"github.com/cpprof/cpprof/sampler/internal/goruntime/layout"
	"github.com/cpprof/cpprof/sampler/internal/memory"
)

// systemStack is how much is read of a stack that is not the goroutine's: the system stack of a thread that Go made
// has 16 KiB, a signal stack 32, and the innermost frames are there.
const systemStack = 32 << 10

// guess says where the stack lies that a thread runs on, by what is known from before the halt: a goroutine's stack
// moves seldom.
func (c *capture) guess(p *processor) memory.Range {
	if p.thread.Late {
		return memory.Range{}
	}
	sp := p.thread.SP
	if s := c.b.table.at(p.g); s != nil {
		h := s.head
		if s.seen == c.b.number {
			h = c.b.t.g.decode(s.raw)
		}
		if h.within(sp) {
			return stackRange(&h, sp, &c.b.arena)
		}
	}
	return memory.Range{Addr: sp, Buf: c.b.arena.Get(systemStack)}
}

// copyStacks reads the stacks that are not known: those of looks that ran since, and the rest of the threads'.
func (c *capture) copyStacks() {
	c.ranges = c.ranges[:0]
	for i := range c.procs {
		if p := &c.procs[i]; p.onThread() && !p.thread.Late {
			c.ranges = append(c.ranges, c.rest(p), c.interrupted(p))
		}
	}
	for i := range c.looks {
		l := &c.looks[i]
		if !l.head.exists() || !l.head.still() {
			continue
		}
		if s := c.b.table.at(l.addr); s != nil && s.view == known && s.head.sameStack(&l.head) {
			continue
		}
		l.copied = true
		l.stack = stackRange(&l.head, l.head.sp(), &c.b.arena)
		c.ranges = append(c.ranges, l.stack)
	}
	c.r.ReadRanges(c.ranges)
	k := 0
	for i := range c.procs {
		if p := &c.procs[i]; p.onThread() && !p.thread.Late {
			copy(p.pieces[1:], c.ranges[k:k+2])
			k += 2
		}
	}
	for i := range c.looks {
		if l := &c.looks[i]; l.copied {
			l.stack = c.ranges[k]
			k++
		}
	}
}

// rest says what is still to be read of the stack of a goroutine on a thread: where the guess missed, all that is
// used of it; where the thread runs on a system or signal stack, that beside the innermost frames.
func (c *capture) rest(p *processor) memory.Range {
	h, sp := &p.head, p.thread.SP
	if h.within(sp) {
		if g := p.pieces[0]; g.Addr == sp && sp+uint64(len(g.Buf)) >= min(h.hi, sp+maxStack) {
			return memory.Range{}
		}
		return stackRange(h, sp, &c.b.arena)
	}
	lowest := h.hi
	m := &c.b.t.l.M
	for _, sp := range []uint64{h.schedSP, h.sysSP, c.word(p.mRaw, m.VDSOSP)} {
		if h.within(sp) {
			lowest = min(lowest, sp)
		}
	}
	// A signal handler leaves no note of where the goroutine stood, except on the handler's own stack.
	if whole := h.hi - h.lo; whole <= 1<<16 {
		lowest = h.lo
	} else if lowest == h.hi {
		lowest = h.hi - min(whole, maxStack)
	}
	return stackRange(h, lowest, &c.b.arena)
}

// interrupted says what is to be read of the system stack where a signal handler may have interrupted code on it: the
// thread is neither on that stack nor on the goroutine's.
func (c *capture) interrupted(p *processor) memory.Range {
	sp := p.thread.SP
	system := head{lo: binary.LittleEndian.Uint64(p.system[:]), hi: binary.LittleEndian.Uint64(p.system[8:])}
	if system.hi == 0 || system.within(sp) || system.hi-system.lo > 1<<40 {
		return memory.Range{}
	}
	return stackRange(&system, system.hi-min(system.hi-system.lo, systemStack), &c.b.arena)
}

// word reads a field that this version may not have; 0 then.
func (c *capture) word(b []byte, at layout.Offset) uint64 {
	if !at.Has() {
		return 0
	}
	return binary.LittleEndian.Uint64(b[at:])
}
