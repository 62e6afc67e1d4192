//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"time"

	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/holders"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// Limits on what a halt sees, so that it stays short whatever
// the target does. A goroutine that is left out keeps the view
// that the survey had of it.
const (
	maxSeen   = 512 // goroutines that were moving or are in a queue
	maxGlobal = 64  // goroutines of the global queue, a linked list
	maxNew    = 256 // goroutines created since the survey
)

// An order lists what a halt must copy.
type order struct {
	// slots that the halt must see; if there are too many, the
	// last lists are cut
	goroutines [5][]int32
	finder     *holders.Finder // has ranges to read, and then others that depend on those
	partial    bool            // the survey has left goroutines out
}

// A capture is the second phase of a sample: in the halt, it
// copies what must be seen at one moment. It changes only
// itself, so that a failed halt leaves no trace.
type capture struct {
	t          *target
	known      *table // only read
	arena      *memory.Arena
	number     uint32 // of the sample
	order      order
	survey     func() (order, error) // if the halt is to begin with the survey
	processors processors
	r          *halt.Reader
	// when all holders of processors were halted: the moment
	// that the copy shows
	at time.Time

	off []offThread      // goroutines that are not on a processor
	byG map[uint64]int32 // index in off by the address of the g

	batch batch
	sched []byte // runtime.sched
	allgs [16]byte
	phase [8]byte  // runtime.gcphase, a number of 32 bits, and what follows it
	made  []uint64 // addresses of the g that are new
}

// An offThread is a goroutine that the halt sees and that is on
// no processor.
type offThread struct {
	addr   uint64
	raw    []byte
	head   head // of zeros if it could not be read
	stack  memory.Range
	queued bool
	copied bool // its stack was copied, because the known stack does not match head
}

// prepare allocates memory before the halt, for the p at these
// addresses. In the halt, each page that the kernel has yet to
// supply would cost the target time.
func (c *capture) prepare(number uint32, ps []uint64) {
	t, a := c.t, c.arena
	a.Reset()
	a.Reserve(2<<20 + len(ps)*(t.pLen+t.mLen+1<<16) + (maxSeen+maxNew)*t.g.size)
	c.number, c.order = number, order{}
	c.processors.prepare(ps, a)
	c.off, c.made = c.off[:0], c.made[:0]
	clear(c.byG)
	c.sched = a.Get(t.schedLen)
}

// take copies, in the halt, what must be seen at one moment.
func (c *capture) take(h *halt.Halted) error {
	if c.processors.got.at.IsZero() {
		c.processors.got = c.processors.threads.arrived(time.Now())
	}
	err := c.processors.halt(h)
	c.at = time.Now()
	if err == nil && c.survey != nil {
		c.order, err = c.survey()
	}
	if err != nil {
		return err
	}
	c.r = h.Reader()
	c.copyThreads()
	c.copyQueues()
	c.copyStacks()
	return c.processors.verify(c.r)
}

// takeLate copies what take could not read for a late thread.
// Only that thread writes there.
func (c *capture) takeLate(th halt.Thread) {
	for i := range c.processors.list {
		p := &c.processors.list[i]
		if !p.onThread() || p.thread.TID != th.TID {
			continue
		}
		p.thread = th
		p.noCPU = c.processors.lateWaited(p)
		for k, piece := range []func(*processor) memory.Range{c.guess, c.rest, c.interrupted} {
			p.pieces[k] = piece(p)
			c.r.ReadRanges(p.pieces[k : k+1])
		}
	}
}

// copyThreads reads, with one system call, what is needed of the
// processors, of their threads, and of the goroutines in the
// order.
func (c *capture) copyThreads() {
	t := c.t
	c.batch.addFixed(t.bin.Globals.AllGs, c.allgs[:])
	c.batch.addFixed(t.bin.Globals.Sched, c.sched)
	if t.bin.Globals.GCPhase != 0 {
		c.batch.addFixed(t.bin.Globals.GCPhase, c.phase[:])
	}
	for i := range c.processors.list {
		c.addProcessor(&c.processors.list[i])
	}
	for _, list := range c.order.goroutines {
		for _, i := range list {
			c.see(c.known.slots[i].addr, false)
		}
	}
	c.addHeads(0)
	c.batch.addAll(c.order.finder.FirstReads())
	c.batch.read(c.r)
	for i := range c.processors.list {
		p := &c.processors.list[i]
		switch {
		case !p.onThread():
		case len(p.mRaw) < t.mLen || len(p.gRaw) < t.g.size:
			p.g, c.processors.changed = 0, true
		default:
			p.head = t.g.decode(p.gRaw)
		}
	}
	c.decodeHeads(0)
}

// addProcessor adds a processor, its thread and its goroutine to
// the batch. If the thread still sleeps in the kernel, or has
// just ended, the goroutine counts as being on no thread.
func (c *capture) addProcessor(p *processor) {
	c.batch.addFixed(p.addr, p.raw)
	if !p.onThread() {
		c.see(p.g, false)
		return
	}
	p.mRaw, p.gRaw = c.arena.Get(c.t.mLen), c.arena.Get(c.t.g.size)
	p.pieces[0] = c.guess(p)
	c.batch.add(p.m, &p.mRaw)
	c.batch.add(p.g, &p.gRaw)
	c.batch.addAll(p.pieces[:1])
}

// see adds a goroutine to the list of those that the halt sees,
// unless it is on a processor.
func (c *capture) see(addr uint64, queued bool) {
	if i, ok := c.byG[addr]; ok {
		c.off[i].queued = c.off[i].queued || queued
		return
	}
	if addr == 0 || len(c.off) >= maxSeen+maxNew || c.processors.holds(addr) {
		return
	}
	if len(c.off) >= maxSeen && !queued {
		return
	}
	c.byG[addr] = int32(len(c.off))
	c.off = append(c.off, offThread{addr: addr, raw: c.arena.Get(c.t.g.size), queued: queued})
}

// sees reports whether the halt has seen a goroutine.
func (c *capture) sees(addr uint64) bool {
	_, off := c.byG[addr]
	return off || c.processors.holds(addr)
}

// addHeads adds the g of the goroutines on that list to the
// batch, starting at an index.
func (c *capture) addHeads(from int) {
	for i := from; i < len(c.off); i++ {
		c.batch.add(c.off[i].addr, &c.off[i].raw)
	}
}

// decodeHeads decodes the heads of these goroutines after they have been read.
func (c *capture) decodeHeads(from int) {
	for i := from; i < len(c.off); i++ {
		if o := &c.off[i]; len(o.raw) == c.t.g.size {
			o.head = c.t.g.decode(o.raw)
		}
	}
}

// copyQueues reads what the first copy leads to: the goroutines
// in the queues, and new ones.
func (c *capture) copyQueues() {
	from := len(c.off)
	p := &c.t.l.P
	for i := range c.processors.list {
		raw := c.processors.list[i].raw
		head, tail := binary.LittleEndian.Uint32(raw[p.RunqHead:]),
			binary.LittleEndian.Uint32(raw[p.RunqTail:])
		for n := head; n != tail && n-head < goruntime.RunqLen; n++ {
			c.see(binary.LittleEndian.Uint64(raw[int(p.Runq)+8*int(n%goruntime.RunqLen):]), true)
		}
		c.see(binary.LittleEndian.Uint64(raw[p.RunNext:]), true)
	}
	c.findNew()
	for _, g := range c.made {
		c.see(g, false)
	}
	c.addSystemStacks()
	c.addHeads(from)
	c.batch.addAll(c.order.finder.SecondReads())
	c.batch.read(c.r)
	c.decodeHeads(from)
	c.copyGlobalQueue()
}

// addSystemStacks adds the bounds of the system stacks of
// threads that aren't on their goroutines' stacks to the batch.
func (c *capture) addSystemStacks() {
	for i := range c.processors.list {
		if p := &c.processors.list[i]; p.onThread() && !p.head.within(p.thread.SP) {
			g0 := binary.LittleEndian.Uint64(p.mRaw[c.t.l.M.G0:])
			c.batch.addFixed(g0+uint64(c.t.g.StackLo), p.system[:])
		}
	}
}

// copyGlobalQueue reads the scheduler's global queue, a list that is linked
// through the goroutines.
func (c *capture) copyGlobalQueue() {
	if !c.t.l.Sched.RunqHead.Has() {
		return
	}
	g := binary.LittleEndian.Uint64(c.sched[c.t.l.Sched.RunqHead:])
	for n := 0; g != 0 && n < maxGlobal; n++ {
		from := len(c.off)
		c.see(g, true)
		i, ok := c.byG[g]
		if !ok {
			return
		}
		if int(i) >= from {
			c.addHeads(from)
			c.batch.read(c.r)
			c.decodeHeads(from)
		}
		if len(c.off[i].raw) < c.t.g.size {
			return
		}
		g = binary.LittleEndian.Uint64(c.off[i].raw[c.t.g.schedule:])
	}
}

// findNew reads the addresses of goroutines that were created since the
// survey, unless that has left some out.
func (c *capture) findNew() {
	if c.order.partial {
		return
	}
	ptr, n := binary.LittleEndian.Uint64(c.allgs[:]), binary.LittleEndian.Uint64(c.allgs[8:])
	known := uint64(len(c.known.slots))
	if n <= known || n > maxGoroutines {
		return
	}
	b := c.arena.Get(8 * int(min(n-known, maxNew)))
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

// variables appends the copies of the runtime's variables, and
// of the processors up to the ends of their queues.
func (c *capture) variables(to memory.Copy) memory.Copy {
	g := &c.t.bin.Globals
	to = append(to, memory.Range{Addr: g.AllP, Buf: c.t.allp[:]},
		memory.Range{Addr: g.Sched, Buf: c.sched})
	if g.GCPhase != 0 {
		to = append(to, memory.Range{Addr: g.GCPhase, Buf: c.phase[:]})
	}
	for i := range c.processors.list {
		p := &c.processors.list[i]
		to = append(to, memory.Range{Addr: p.addr, Buf: p.raw})
	}
	return to
}
