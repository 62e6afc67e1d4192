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

// guess returns the stack that a thread runs on, by what is known from before the halt, so that it can be read together with
// the goroutine's g: a goroutine's stack moves seldom.
func (c *capture) guess(p *processor) memory.Range {
	if p.thread.Late {
		return memory.Range{}
	}
	sp := p.thread.SP
	if s := c.known.at(p.g); s != nil {
		h := s.head
		if s.changed == c.order.sample {
			h = c.t.g.decode(s.raw)
		}
		if h.within(sp) {
			return stackRange(&h, sp, c.arena)
		}
	}
	return memory.Range{Addr: sp, Buf: c.arena.Get(systemStack)}
}

// copyStacks reads the stacks that are not known: those of goroutines on no thread that ran since the survey, and what guess
// missed of the threads'.
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

// rest returns what is still to be read of the stack of a goroutine on a thread: all that is used of it, if the guess missed;
// what lies beside the innermost frames, if the thread runs on a system or signal stack.
func (c *capture) rest(p *processor) memory.Range {
	h, sp := &p.head, p.thread.SP
	if h.within(sp) {
		if g := p.pieces[0]; g.Addr == sp && sp+uint64(len(g.Buf)) >= min(h.hi, sp+maxStack) {
			return memory.Range{}
		}
		return stackRange(h, sp, c.arena)
	}
	lowest := h.hi
	for _, sp := range []uint64{h.schedSP, h.sysSP, field(p.mRaw, c.t.l.M.VDSOSP)} {
		if h.within(sp) {
			lowest = min(lowest, sp)
		}
	}
	// Only a signal handler's own stack says where the goroutine stood that the signal interrupted: read all of a small one.
	if whole := h.hi - h.lo; whole <= 1<<16 {
		lowest = h.lo
	} else if lowest == h.hi {
		lowest = h.hi - min(whole, maxStack)
	}
	return stackRange(h, lowest, c.arena)
}

// interrupted returns what is to be read of the system stack if a signal handler may have interrupted code on it: if the
// thread is neither on that stack nor on the goroutine's.
func (c *capture) interrupted(p *processor) memory.Range {
	sp := p.thread.SP
	system := head{lo: binary.LittleEndian.Uint64(p.system[:]), hi: binary.LittleEndian.Uint64(p.system[8:])}
	if system.hi == 0 || system.within(sp) || system.hi-system.lo > 1<<40 {
		return memory.Range{}
	}
	return stackRange(&system, system.hi-min(system.hi-system.lo, systemStack), c.arena)
}

// field returns a field that this version of Go may not have; 0 then.
func field(b []byte, at layout.Offset) uint64 {
	if !at.Has() {
		return 0
	}
	return binary.LittleEndian.Uint64(b[at:])
}
