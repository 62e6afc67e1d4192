package delve

import (
	"errors"
	"fmt"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
)

const (
	maxGoroutines = 1 << 24   // a larger number is taken for damage
	maxProcessors = 1 << 16   // likewise
	maxStack      = 256 << 10 // bytes of one stack, from its innermost frame on
	maxSystem     = 64 << 10  // bytes of a thread's system stack
)

// A capture is the copy that was made in one halt, decoded.
type capture struct {
	l       *runtimeLayout
	mem     *memory
	threads map[int]*thread // by id
	outer   func(int) int   // our number of a thread that the target sees; nil if it is the same

	goroutines []goroutine
	procs      []processor

	// the semaphore that each goroutine waits at, by the address
	// of its g, if the goroutine does not lead to it
	waitsAt map[uint64]uint64

	gcphase      uint32
	stoppedWorld bool
}

// A goroutine is the copy of one goroutine.
type goroutine struct {
	addr   uint64
	raw    []byte  // its g
	m      []byte  // the m of its thread; nil if it is on no thread
	thread *thread // nil if it is on no thread, or on one that was not halted
	status uint32
}

func (g *goroutine) id(l *runtimeLayout) int64 { return int64(word(g.raw, l.G.Goid)) }

// A processor is the copy of one P.
type processor struct {
	addr   uint64
	status uint32
	m      uint64
}

// take copies the parts of a sample while the target is halted.
func (c *capture) take(threads []thread) error {
	c.threads = make(map[int]*thread, len(threads))
	for i := range threads {
		c.threads[threads[i].id] = &threads[i]
	}
	if err := c.scheduler(); err != nil {
		return err
	}
	ms := c.machines()
	for i := range c.goroutines {
		c.findThread(&c.goroutines[i], ms)
	}
	c.stacks()
	c.waits()
	return nil
}

// scheduler copies the lists of goroutines and processors, and their elements.
func (c *capture) scheduler() error {
	l, mem := c.l, c.mem
	mem.copy([]region{
		{l.allgs, 24}, {l.allglen, 8}, {l.allp, 24}, {l.gomaxprocs, 4}, {l.sched, int(l.Sched.Size)},
		{l.gcphase, 4},
	})
	allgs := mem.get(l.allgs, 24)
	if allgs == nil {
		return errors.New("reading runtime.allgs: not there")
	}
	n, np := word(allgs, 8), uint64(half(mem.get(l.gomaxprocs, 4), 0))
	if n > maxGoroutines || np > maxProcessors {
		return fmt.Errorf("reading runtime.allgs: %d goroutines and %d processors can't be", n, np)
	}
	c.gcphase = half(mem.get(l.gcphase, 4), 0)
	c.stoppedWorld = false
	if sched := mem.get(l.sched, int(l.Sched.Size)); sched != nil && l.Sched.GCWaiting.Has() {
		c.stoppedWorld = sched[l.Sched.GCWaiting] != 0
	}
	gaddrs := mem.copyOne(word(allgs, 0), int(n)*8)
	paddrs := mem.copyOne(word(mem.get(l.allp, 24), 0),
		int(min(np, word(mem.get(l.allp, 24), 8)))*8)
	var regions []region
	for i := 0; i+8 <= len(gaddrs); i += 8 {
		regions = append(regions, region{word(gaddrs, i), int(l.G.Size)})
	}
	for i := 0; i+8 <= len(paddrs); i += 8 {
		regions = append(regions, region{word(paddrs, i), l.pSize})
	}
	mem.copy(regions)
	c.goroutines = c.goroutines[:0]
	for i := 0; i+8 <= len(gaddrs); i += 8 {
		g := goroutine{addr: word(gaddrs, i)}
		if g.raw = mem.get(g.addr, int(l.G.Size)); g.raw == nil {
			continue
		}
		if g.status = half(g.raw, l.G.AtomicStatus) &^ goruntime.GScan; goruntime.HasGoroutine(g.status) {
			c.goroutines = append(c.goroutines, g)
		}
	}
	c.procs = c.procs[:0]
	for i := 0; i+8 <= len(paddrs); i += 8 {
		addr := word(paddrs, i)
		raw := mem.get(addr, l.pSize)
		c.procs = append(c.procs,
			processor{addr: addr, status: half(raw, l.P.Status), m: word(raw, l.P.M)})
	}
	return nil
}

// machines copies every m that a goroutine or a processor is on,
// with the g0 and gsignal of each.
func (c *capture) machines() map[uint64][]byte {
	ms := map[uint64][]byte{}
	var regions []region
	want := func(addr uint64) {
		if _, ok := ms[addr]; !ok && addr != 0 {
			ms[addr] = nil
			regions = append(regions, region{addr, int(c.l.M.Size)})
		}
	}
	for i := range c.goroutines {
		want(word(c.goroutines[i].raw, c.l.G.M))
	}
	for _, p := range c.procs {
		want(p.m)
	}
	c.mem.copy(regions)
	regions = regions[:0]
	for addr := range ms {
		m := c.mem.get(addr, int(c.l.M.Size))
		ms[addr] = m
		for _, field := range []layout.Offset{c.l.M.G0, c.l.gsignal} {
			if g := word(m, field); g != 0 {
				regions = append(regions, region{g, int(c.l.G.Size)})
			}
		}
	}
	c.mem.copy(regions)
	return ms
}

// findThread finds the thread that a goroutine is on. If the
// goroutine is its m's current one, it is on that thread,
// whatever its status: the garbage collector's workers run with
// a waiting status.
func (c *capture) findThread(g *goroutine, ms map[uint64][]byte) {
	m := ms[word(g.raw, c.l.G.M)]
	if m == nil || word(m, c.l.M.CurG) != g.addr {
		return
	}
	g.m = m
	id := int(word(m, c.l.M.ProcID))
	if c.outer != nil {
		id = c.outer(id)
	}
	g.thread = c.threads[id]
}

// stacks copies the part of every stack that is in use.
func (c *capture) stacks() {
	l := c.l
	var regions []region
	// addStack adds the part of a stack from sp on, if sp lies
	// in that stack.
	addStack := func(g []byte, sp uint64, limit uint64) bool {
		lo, hi := word(g, l.G.StackLo), word(g, l.G.StackHi)
		if sp < lo || sp >= hi {
			return false
		}
		regions = append(regions, region{sp, int(min(hi-sp, limit))})
		return true
	}
	for i := range c.goroutines {
		g := &c.goroutines[i]
		sp := word(g.raw, l.G.SchedSP)
		if s := word(g.raw, l.G.SyscallSP); s != 0 && g.status == goruntime.GSyscall {
			sp = min(sp, s)
		}
		if g.thread == nil {
			addStack(g.raw, sp, maxStack)
			continue
		}
		at := g.thread.regs.SP()
		if addStack(g.raw, at, maxStack) {
			continue
		}
		addStack(g.raw, sp, maxStack)
		onSystem := false
		for _, field := range []layout.Offset{l.M.G0, l.gsignal} {
			onSystem = onSystem || addStack(c.mem.get(word(g.m, field), int(l.G.Size)), at, maxSystem)
		}
		// A thread on its system stack returns to the point
		// where it left its goroutine's stack. It may have
		// entered the signal stack from either.
		g0 := c.mem.get(word(g.m, l.M.G0), int(l.G.Size))
		addStack(g0, word(g0, l.G.SchedSP), maxSystem)
		if !onSystem {
			regions = append(regions, region{at, 4096}) // a stack of C code
		}
	}
	c.mem.copy(regions)
}
