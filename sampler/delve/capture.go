package delve

import (
	"errors"
	"maps"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
	copied "github.com/cpprof/cpprof/sampler/target/memory"
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

	// the semaphore that each goroutine waits at, by the address of its g
	waitsAt map[uint64]uint64
	labels  map[int64]labels // by goid, of those that have some

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
	c.readLabels()
	return nil
}

// scheduler copies the lists of goroutines and processors, and their elements.
func (c *capture) scheduler() error {
	l, mem := c.l, c.mem.copier()
	gs, haveGs := mem.Slice(l.allgs, maxGoroutines)
	ps, havePs := mem.Slice(l.allp, maxProcessors)
	if !haveGs || !havePs {
		return errors.New("reading runtime.allgs and allp: not there, or they make no sense")
	}
	c.gcphase = half(mem.Get(l.gcphase, 4), 0)
	sched := mem.Get(l.sched, int(l.Sched.Size))
	c.stoppedWorld = uint8(half(sched, l.Sched.GCWaiting)) != 0
	c.goroutines = c.goroutines[:0]
	for i, raw := range mem.Structs(gs, int(l.G.Size)) {
		g := goroutine{addr: gs[i], raw: raw}
		g.status = half(raw, l.G.AtomicStatus) &^ goruntime.GScan
		if raw != nil && goruntime.HasGoroutine(g.status) {
			c.goroutines = append(c.goroutines, g)
		}
	}
	c.procs = c.procs[:0]
	for i, raw := range mem.Structs(ps, l.pSize) {
		c.procs = append(c.procs,
			processor{addr: ps[i], status: half(raw, l.P.Status), m: word(raw, l.P.M)})
	}
	return nil
}

// machines copies every m that a goroutine or a processor is on,
// with the g0 and gsignal of each.
func (c *capture) machines() map[uint64][]byte {
	ms := map[uint64][]byte{}
	for i := range c.goroutines {
		ms[word(c.goroutines[i].raw, c.l.G.M)] = nil
	}
	for _, p := range c.procs {
		ms[p.m] = nil
	}
	delete(ms, 0)
	addrs := slices.Collect(maps.Keys(ms))
	var gs []uint64
	for i, m := range c.mem.copier().Structs(addrs, int(c.l.M.Size)) {
		ms[addrs[i]] = m
		for _, field := range []layout.Offset{c.l.M.G0, c.l.gsignal} {
			if g := word(m, field); g != 0 {
				gs = append(gs, g)
			}
		}
	}
	c.mem.copier().Structs(gs, int(c.l.G.Size))
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
	var stacks []copied.Range
	// addStack adds the part of a stack from sp on, if sp lies
	// in that stack.
	addStack := func(g []byte, sp uint64, limit uint64) bool {
		lo, hi := word(g, l.G.StackLo), word(g, l.G.StackHi)
		if sp < lo || sp >= hi {
			return false
		}
		stacks = c.mem.add(stacks, sp, int(min(hi-sp, limit)))
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
			stacks = c.mem.add(stacks, at, 4096) // a stack of C code
		}
	}
	c.mem.ReadRanges(stacks)
}
