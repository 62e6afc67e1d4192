//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"

	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/halt"
	"github.com/cpprof/cpprof/sampler/internal/memory"
)

// Bounds of what a halt looks at, so that it stays short whatever the target does. What is left out keeps the view
// that the part without a halt had of it.
const (
	maxLooks  = 512 // goroutines that were moving, or are in a queue
	maxGlobal = 64  // of the global queue, which has to be followed link by link
	maxNew    = 256 // goroutines that were made since the part without a halt
)

// A capture is what a halt copied.
type capture struct {
	b     *Backend
	r     *halt.Reader
	procs []processor
	looks []look
	byG   map[uint64]int32 // index of a look by the address of its g

	tids    []int // of the threads to be halted
	threads []halt.Thread
	ranges  []memory.Range
	small   []byte // for short looks at each processor
	sched   []byte
	allgs   [16]byte
	phase   [4]byte
	made    []uint64 // addresses of the new g
	changed bool     // the processors changed hands in the middle of the copy
}

// A look is a goroutine that is looked at in the halt and is not on a processor.
type look struct {
	addr   uint64
	raw    []byte
	head   head
	stack  memory.Range
	queued bool
	copied bool // the stack is wanted, since the one that is known isn't that of head
}

// take copies what must be seen at one moment.
func (c *capture) take(h *halt.Halted) error {
	c.r = h.Reader()
	if err := c.hold(h); err != nil {
		return err
	}
	c.copyThreads()
	c.follow()
	c.copyStacks()
	return c.verify()
}

// takeLate copies what take left out of a thread that was late. Nothing but that thread writes there.
func (c *capture) takeLate(th halt.Thread) {
	for i := range c.procs {
		p := &c.procs[i]
		if !p.onThread() || p.thread.TID != th.TID {
			continue
		}
		p.thread = th
		for k, piece := range []func(*processor) memory.Range{c.guess, c.rest, c.interrupted} {
			p.pieces[k] = piece(p)
			c.r.ReadRanges(p.pieces[k : k+1])
		}
	}
}

// prepare makes room before the halt.
func (c *capture) prepare(ps []uint64) {
	a := &c.b.arena
	a.Reset()
	a.Reserve(2<<20 + len(ps)*(c.b.t.pLen+c.b.t.mLen+1<<16) + (maxLooks+maxNew)*c.b.t.g.size)
	c.procs = c.procs[:0]
	for _, p := range ps {
		c.procs = append(c.procs, processor{addr: p, raw: a.Get(c.b.t.pLen)})
	}
	c.looks, c.tids, c.threads, c.made = c.looks[:0], c.tids[:0], c.threads[:0], c.made[:0]
	clear(c.byG)
	c.sched = a.Get(c.b.t.schedLen)
	c.small = a.Get(len(ps) * max(c.b.t.pHead, c.b.t.procLen))
	c.changed = false
}

// copyThreads reads, with one system call, what is needed of the processors, of their threads, and of the goroutines
// that were moving.
func (c *capture) copyThreads() {
	t, a := c.b.t, &c.b.arena
	c.ranges = append(c.ranges[:0],
		memory.Range{Addr: t.bin.Globals.AllGs, Buf: c.allgs[:]},
		memory.Range{Addr: t.bin.Globals.Sched, Buf: c.sched})
	if t.bin.Globals.GCPhase != 0 {
		c.ranges = append(c.ranges, memory.Range{Addr: t.bin.Globals.GCPhase, Buf: c.phase[:]})
	}
	for i := range c.procs {
		p := &c.procs[i]
		c.ranges = append(c.ranges, memory.Range{Addr: p.addr, Buf: p.raw})
		if !p.onThread() {
			c.look(p.g, false) // its thread sleeps on in the kernel, or has just ended
			continue
		}
		p.mRaw, p.gRaw = a.Get(t.mLen), a.Get(t.g.size)
		p.pieces[0] = c.guess(p)
		c.ranges = append(c.ranges, memory.Range{Addr: p.m, Buf: p.mRaw}, memory.Range{Addr: p.g, Buf: p.gRaw}, p.pieces[0])
	}
	waiting, holding := c.b.finder.SeenAtHalt()
	for _, list := range [][]int32{c.b.moving, c.b.runnable, waiting, holding} {
		for _, i := range list {
			c.look(c.b.table.slots[i].addr, false)
		}
	}
	c.addLooks(0)
	locks := len(c.ranges)
	c.ranges = append(c.ranges, c.b.finder.FirstReads()...)
	c.r.ReadRanges(c.ranges)
	copy(c.b.finder.FirstReads(), c.ranges[locks:])
	k := 2
	if t.bin.Globals.GCPhase != 0 {
		k++
	}
	for i := range c.procs {
		p := &c.procs[i]
		k++
		if !p.onThread() {
			continue
		}
		p.mRaw, p.gRaw, p.pieces[0] = c.ranges[k].Buf, c.ranges[k+1].Buf, c.ranges[k+2]
		k += 3
		if len(p.mRaw) < t.mLen || len(p.gRaw) < t.g.size {
			p.g, c.changed = 0, true
		} else {
			p.head = t.g.decode(p.gRaw)
		}
	}
	c.decode(0, k)
}

// look puts a goroutine on the list of those to be looked at.
func (c *capture) look(addr uint64, queued bool) {
	if i, ok := c.byG[addr]; ok {
		c.looks[i].queued = c.looks[i].queued || queued
		return
	}
	if addr == 0 || len(c.looks) >= maxLooks+maxNew || c.holds(addr) {
		return
	}
	if len(c.looks) >= maxLooks && !queued {
		return
	}
	c.byG[addr] = int32(len(c.looks))
	c.looks = append(c.looks, look{addr: addr, raw: c.b.arena.Get(c.b.t.g.size), queued: queued})
}

// holds tells whether a goroutine holds a processor, with a thread that is halted.
func (c *capture) holds(g uint64) bool {
	for i := range c.procs {
		if c.procs[i].g == g && c.procs[i].halted {
			return true
		}
	}
	return false
}

// addLooks adds the looks from one on to the ranges.
func (c *capture) addLooks(from int) {
	for i := from; i < len(c.looks); i++ {
		c.ranges = append(c.ranges, memory.Range{Addr: c.looks[i].addr, Buf: c.looks[i].raw})
	}
}

// decode makes the heads of the looks from one on, which were read into the ranges from k on.
func (c *capture) decode(from, k int) {
	for i := from; i < len(c.looks); i++ {
		l := &c.looks[i]
		if b := c.ranges[k+i-from].Buf; len(b) == c.b.t.g.size {
			l.head = c.b.t.g.decode(b)
		}
	}
}

// follow reads what the first copy points to: the queues, and the goroutines that are new.
func (c *capture) follow() {
	from := len(c.looks)
	p := &c.b.t.l.P
	for i := range c.procs {
		raw := c.procs[i].raw
		head, tail := binary.LittleEndian.Uint32(raw[p.RunqHead:]), binary.LittleEndian.Uint32(raw[p.RunqTail:])
		for n := head; n != tail && n-head < goruntime.RunqLen; n++ {
			c.look(binary.LittleEndian.Uint64(raw[int(p.Runq)+8*int(n%goruntime.RunqLen):]), true)
		}
		c.look(binary.LittleEndian.Uint64(raw[p.RunNext:]), true)
	}
	c.findNew()
	for _, g := range c.made {
		c.look(g, false)
	}
	c.ranges = c.ranges[:0]
	for i := range c.procs {
		if p := &c.procs[i]; p.onThread() && !p.head.within(p.thread.SP) {
			g0 := binary.LittleEndian.Uint64(p.mRaw[c.b.t.l.M.G0:])
			c.ranges = append(c.ranges, memory.Range{Addr: g0 + uint64(c.b.t.g.StackLo), Buf: p.system[:]})
		}
	}
	k := len(c.ranges)
	c.addLooks(from)
	second, reads := len(c.ranges), c.b.finder.SecondReads()
	c.ranges = append(c.ranges, reads...)
	c.r.ReadRanges(c.ranges)
	copy(reads, c.ranges[second:])
	c.decode(from, k)
	c.followGlobal()
}

// followGlobal reads the scheduler's own queue, a list that is linked through the goroutines.
func (c *capture) followGlobal() {
	if !c.b.t.l.Sched.RunqHead.Has() {
		return
	}
	g := binary.LittleEndian.Uint64(c.sched[c.b.t.l.Sched.RunqHead:])
	for n := 0; g != 0 && n < maxGlobal; n++ {
		from := len(c.looks)
		c.look(g, true)
		i, ok := c.byG[g]
		if !ok {
			return
		}
		if int(i) >= from {
			c.ranges = c.ranges[:0]
			c.addLooks(from)
			c.r.ReadRanges(c.ranges)
			c.decode(from, 0)
		}
		g = binary.LittleEndian.Uint64(c.looks[i].raw[c.b.t.g.schedule:])
	}
}

// findNew reads the addresses of goroutines that were made since the part without a halt.
func (c *capture) findNew() {
	ptr, n := binary.LittleEndian.Uint64(c.allgs[:]), binary.LittleEndian.Uint64(c.allgs[8:])
	known := uint64(len(c.b.table.slots))
	if n <= known || n > maxGoroutines {
		return
	}
	b := c.b.arena.Get(8 * int(min(n-known, maxNew)))
	if c.r.ReadRanges([]memory.Range{{Addr: ptr + 8*known, Buf: b}}) > 0 {
		return
	}
	for ; len(b) > 0; b = b[8:] {
		g := binary.LittleEndian.Uint64(b)
		if g == 0 {
			return
		}
		c.made = append(c.made, g)
	}
}
