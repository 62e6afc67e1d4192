//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"

	"github.com/cpprof/cpprof/sampler/target/memory"
)

// systemStack is how many bytes are read of a stack that is not
// the goroutine's. The system stack of a thread that Go created
// has 16 KiB, a signal stack has 32 KiB, and the innermost
// frames are within these bytes.
const systemStack = 32 << 10

// guess returns the stack that a thread probably runs on, from
// what was known before the halt. So the stack can be read
// together with the goroutine's g. The guess is usually right,
// since stacks rarely move.
func (c *capture) guess(p *processor) memory.Range {
	if p.thread.Late {
		return memory.Range{}
	}
	sp := p.thread.SP
	if s := c.known.at(p.g); s != nil {
		h := s.head
		if s.changed == c.number {
			h = c.t.g.decode(s.raw)
		}
		if h.within(sp) {
			return stackRange(&h, sp, c.arena)
		}
	}
	return memory.Range{Addr: sp, Buf: c.arena.Get(systemStack)}
}

// copyStacks reads the stacks that are not known. Their
// goroutines are on no thread but have run since the survey, or
// the guess was wrong for their threads.
func (c *capture) copyStacks() {
	for i := range c.processors.list {
		if p := &c.processors.list[i]; p.onThread() && !p.thread.Late {
			p.pieces[1], p.pieces[2] = c.rest(p), c.interrupted(p)
			c.batch.addAll(p.pieces[1:])
		}
	}
	for i := range c.off {
		o := &c.off[i]
		if !o.head.exists() || !o.head.still() {
			continue
		}
		if s := c.known.at(o.addr); s != nil && s.view == known && s.head.sameStack(&o.head) {
			continue
		}
		o.copied = true
		o.stack = stackRange(&o.head, o.head.sp(), c.arena)
		c.batch.add(o.stack.Addr, &o.stack.Buf)
	}
	c.batch.read(c.r)
}

// rest returns what is still to be read of the stack of a
// goroutine on a thread: all that is in use, if the guess was
// wrong; what lies below the innermost frames, if the thread
// runs on a system or signal stack.
func (c *capture) rest(p *processor) memory.Range {
	h, sp := &p.head, p.thread.SP
	if h.within(sp) {
		if g := p.pieces[0]; g.Addr == sp && sp+uint64(len(g.Buf)) >= min(h.hi, sp+maxStack) {
			return memory.Range{}
		}
		return stackRange(h, sp, c.arena)
	}
	lowest := h.hi
	for _, sp := range []uint64{h.schedSP, h.sysSP, memory.Word(p.mRaw, c.t.l.M.VDSOSP)} {
		if h.within(sp) {
			lowest = min(lowest, sp)
		}
	}
	// Only the signal handler's own stack has the position at
	// which the signal interrupted the goroutine. So a small one
	// is read completely.
	if whole := h.hi - h.lo; whole <= 1<<16 {
		lowest = h.lo
	} else if lowest == h.hi {
		lowest = h.hi - min(whole, maxStack)
	}
	return stackRange(h, lowest, c.arena)
}

// interrupted returns what must be read of the system stack if a
// signal handler may have interrupted code on it. That may be so
// if the thread is neither on that stack nor on the goroutine's.
func (c *capture) interrupted(p *processor) memory.Range {
	sp := p.thread.SP
	system := head{lo: binary.LittleEndian.Uint64(p.system[:]),
		hi: binary.LittleEndian.Uint64(p.system[8:])}
	if system.hi == 0 || system.within(sp) || system.hi-system.lo > 1<<40 {
		return memory.Range{}
	}
	return stackRange(&system, system.hi-min(system.hi-system.lo, systemStack), c.arena)
}
