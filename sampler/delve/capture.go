package delve

import (
	"errors"
	"fmt"

	"github.com/cpprof/cpprof/sampler/internal/goruntime"
)

const (
	maxGoroutines = 1 << 24   // more is taken for nonsense
	maxProcessors = 1 << 16   // likewise
	maxStack      = 256 << 10 // of one stack, from its leaf on
	maxSystem     = 64 << 10  // of a thread's system stack
)

// A capture is one halt's copy, with what it was made of.
type capture struct {
	l       *layout
	mem     *memory
	threads map[int]*thread // by id

	goroutines []goroutine
	procs      []processor

	gcphase      uint32
	stoppedWorld bool
}

// A goroutine is one goroutine as copied.
type goroutine struct {
	addr   uint64
	raw    []byte  // its g
	m      []byte  // of the thread that it is on; nil if it is on none
	thread *thread // nil if it is on none, or on one that was not halted
	status uint32
}

func (g *goroutine) id(l *layout) int64 { return int64(word(g.raw, l.g.goid)) }

// A processor is one P as copied.
type processor struct {
	addr   uint64
	status uint32
	m      uint64
}

// take copies what a sample is made of; the target is halted. inner translates the thread ids that the target knows.
func (c *capture) take(threads []thread, inner map[uint64]int) error {
	c.threads = make(map[int]*thread, len(threads))
	for i := range threads {
		c.threads[threads[i].id] = &threads[i]
	}
	if err := c.scheduler(); err != nil {
		return err
	}
	ms := c.machines()
	for i := range c.goroutines {
		c.place(&c.goroutines[i], ms, inner)
	}
	c.stacks()
	c.waits()
	return nil
}

// scheduler copies the lists of goroutines and processors, and their members.
func (c *capture) scheduler() error {
	l, mem := c.l, c.mem
	mem.copy([]place{
		{l.allgs, 24}, {l.allglen, 8}, {l.allp, 24}, {l.gomaxprocs, 4}, {l.sched, l.schedSize}, {l.gcphase, 4},
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
	if sched := mem.get(l.sched, l.schedSize); sched != nil && l.gcwaiting != absent {
		c.stoppedWorld = sched[l.gcwaiting] != 0
	}
	gaddrs := mem.one(word(allgs, 0), int(n)*8)
	paddrs := mem.one(word(mem.get(l.allp, 24), 0), int(min(np, word(mem.get(l.allp, 24), 8)))*8)
	var places []place
	for i := 0; i+8 <= len(gaddrs); i += 8 {
		places = append(places, place{word(gaddrs, i), l.g.size})
	}
	for i := 0; i+8 <= len(paddrs); i += 8 {
		places = append(places, place{word(paddrs, i), l.p.size})
	}
	mem.copy(places)
	c.goroutines = c.goroutines[:0]
	for i := 0; i+8 <= len(gaddrs); i += 8 {
		g := goroutine{addr: word(gaddrs, i)}
		if g.raw = mem.get(g.addr, l.g.size); g.raw == nil {
			continue
		}
		if g.status = half(g.raw, l.g.status) &^ goruntime.GScan; goruntime.HasGoroutine(g.status) {
			c.goroutines = append(c.goroutines, g)
		}
	}
	c.procs = c.procs[:0]
	for i := 0; i+8 <= len(paddrs); i += 8 {
		addr := word(paddrs, i)
		raw := mem.get(addr, l.p.size)
		c.procs = append(c.procs, processor{addr: addr, status: half(raw, l.p.status), m: word(raw, l.p.m)})
	}
	return nil
}

// machines copies every m that a goroutine or a processor is on, with its system goroutines.
func (c *capture) machines() map[uint64][]byte {
	ms := map[uint64][]byte{}
	var places []place
	want := func(addr uint64) {
		if _, ok := ms[addr]; !ok && addr != 0 {
			ms[addr] = nil
			places = append(places, place{addr, c.l.m.size})
		}
	}
	for i := range c.goroutines {
		want(word(c.goroutines[i].raw, c.l.g.m))
	}
	for _, p := range c.procs {
		want(p.m)
	}
	c.mem.copy(places)
	places = places[:0]
	for addr := range ms {
		m := c.mem.get(addr, c.l.m.size)
		ms[addr] = m
		for _, field := range []int{c.l.m.g0, c.l.m.gsignal} {
			if g := word(m, field); g != 0 {
				places = append(places, place{g, c.l.g.size})
			}
		}
	}
	c.mem.copy(places)
	return ms
}

// place finds the thread that a goroutine is on. A goroutine that its m holds as the current one is on that thread,
// whatever its status says: the collector's work is done in waiting.
func (c *capture) place(g *goroutine, ms map[uint64][]byte, inner map[uint64]int) {
	m := ms[word(g.raw, c.l.g.m)]
	if m == nil || word(m, c.l.m.curg) != g.addr {
		return
	}
	g.m = m
	procid := word(m, c.l.m.procid)
	id, ok := inner[procid]
	if !ok {
		id = int(procid)
	}
	g.thread = c.threads[id]
}

// stacks copies the used part of every stack.
func (c *capture) stacks() {
	l := c.l
	var places []place
	// used adds a stack from sp on, where sp lies in it.
	used := func(g []byte, sp uint64, limit uint64) bool {
		lo, hi := word(g, l.g.stackLo), word(g, l.g.stackHi)
		if sp < lo || sp >= hi {
			return false
		}
		places = append(places, place{sp, int(min(hi-sp, limit))})
		return true
	}
	for i := range c.goroutines {
		g := &c.goroutines[i]
		sp := word(g.raw, l.g.sp)
		if s := word(g.raw, l.g.syscallSP); s != 0 && g.status == goruntime.GSyscall {
			sp = min(sp, s)
		}
		if g.thread == nil {
			used(g.raw, sp, maxStack)
			continue
		}
		at := g.thread.regs.SP()
		if used(g.raw, at, maxStack) {
			continue
		}
		used(g.raw, sp, maxStack)
		onSystem := false
		for _, field := range []int{l.m.g0, l.m.gsignal} {
			onSystem = onSystem || used(c.mem.get(word(g.m, field), l.g.size), at, maxSystem)
		}
		// A thread on its system stack comes back to where the stack was left. The signal stack may have been
		// entered from either.
		g0 := c.mem.get(word(g.m, l.m.g0), l.g.size)
		used(g0, word(g0, l.g.sp), maxSystem)
		if !onSystem {
			places = append(places, place{at, 4096}) // a stack of C's
		}
	}
	c.mem.copy(places)
}
