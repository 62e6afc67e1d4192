//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"errors"

	"github.com/cpprof/cpprof/sampler/internal/halt"
	"github.com/cpprof/cpprof/sampler/internal/memory"
)

// maxRounds bounds the looks at who holds the processors, in one halt.
const maxRounds = 8

// A processor is a p of the target, and the thread and goroutine that hold it.
type processor struct {
	addr   uint64
	raw    []byte // of the p
	m, g   uint64 // the holder and its goroutine; 0 for none
	tid    int    // of the holder
	tick   uint32 // p.schedtick
	halted bool
	thread halt.Thread // late: without registers, and without copies of its stacks yet
	mRaw   []byte
	gRaw   []byte
	head   head            // of the goroutine
	pieces [3]memory.Range // copies of its stacks
	system [16]byte        // bounds of the thread's system stack, for a thread that isn't on the goroutine's
	awake  bool            // it was on a CPU or ready for one, just before it was halted
}

// onThread tells whether the processor runs a goroutine whose thread is halted.
func (p *processor) onThread() bool { return p.g != 0 && p.halted }

// hold halts the threads that hold processors, until no other holds one.
func (c *capture) hold(h *halt.Halted) error {
	for range maxRounds {
		if err := c.holders(); err != nil {
			return err
		}
		fresh := false
		for i := range c.procs {
			if p := &c.procs[i]; p.m != 0 && p.tid != 0 && !contains(c.tids, p.tid) {
				c.tids = append(c.tids, p.tid)
				p.awake = c.b.looks.running(c.b.t.PID(), p.tid)
				fresh = true
			}
		}
		if !fresh {
			c.match()
			return nil
		}
		var err error
		if c.threads, err = h.Threads(c.tids); err != nil {
			return err
		}
	}
	c.match()
	c.changed = true
	return nil
}

// match finds the halted thread of each processor.
func (c *capture) match() {
	for i := range c.procs {
		for _, th := range c.threads {
			if p := &c.procs[i]; p.m != 0 && th.TID == p.tid {
				p.thread, p.halted = th, true
			}
		}
	}
}

func contains(tids []int, tid int) bool {
	for _, t := range tids {
		if t == tid {
			return true
		}
	}
	return false
}

var errProcessors = errors.New("reading the processors: they can't be read")

// holders reads who holds the processors.
func (c *capture) holders() error {
	t := c.b.t
	c.ranges = c.ranges[:0]
	for i := range c.procs {
		c.ranges = append(c.ranges, memory.Range{Addr: c.procs[i].addr, Buf: c.procs[i].raw[:t.pHead]})
	}
	if c.r.ReadRanges(c.ranges) > 0 {
		return errProcessors
	}
	c.ranges = c.ranges[:0]
	for i := range c.procs {
		p := &c.procs[i]
		m := binary.LittleEndian.Uint64(p.raw[t.l.P.M:])
		if m != p.m {
			*p = processor{addr: p.addr, raw: p.raw, m: m}
		}
		p.tick = binary.LittleEndian.Uint32(p.raw[t.l.P.SchedTick:])
		if m != 0 {
			c.ranges = append(c.ranges, memory.Range{Addr: m + uint64(t.procID), Buf: c.small[i*t.procLen:][:t.procLen]})
		}
	}
	c.r.ReadRanges(c.ranges)
	k := 0
	for i := range c.procs {
		p := &c.procs[i]
		if p.m == 0 {
			continue
		}
		if b := c.ranges[k].Buf; len(b) == t.procLen {
			// A thread's number is there once and for all, but its goroutine can be another one each time.
			tid := int(binary.LittleEndian.Uint64(b[int(t.l.M.ProcID)-t.procID:]))
			if p.tid == 0 {
				p.tid = t.numbers.Outer(tid)
			}
			p.g = binary.LittleEndian.Uint64(b[int(t.l.M.CurG)-t.procID:])
		}
		k++
	}
	return nil
}

// verify notes whether the processors changed hands in the middle of the copy.
func (c *capture) verify() error {
	c.ranges = c.ranges[:0]
	t := c.b.t
	for i := range c.procs {
		c.ranges = append(c.ranges, memory.Range{Addr: c.procs[i].addr, Buf: c.small[i*t.pHead:][:t.pHead]})
	}
	if c.r.ReadRanges(c.ranges) > 0 {
		return errProcessors
	}
	for i := range c.procs {
		b := c.ranges[i].Buf
		if binary.LittleEndian.Uint64(b[t.l.P.M:]) != c.procs[i].m ||
			binary.LittleEndian.Uint32(b[t.l.P.SchedTick:]) != c.procs[i].tick {
			c.changed = true
		}
	}
	return nil
}
