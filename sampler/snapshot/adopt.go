//go:build linux && (amd64 || arm64)

package snapshot

import (
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// adopt updates the slots from what the halt saw. A goroutine
// that the survey saw parked was waiting at the halt if it then
// neither had a processor nor was in a queue. Its slot stays as
// it is.
func (gs *goroutines) adopt(c *capture) {
	gs.add(c.made)
	for i := range c.processors.list {
		p := &c.processors.list[i]
		if !p.onThread() || !p.head.exists() {
			continue
		}
		if k, ok := gs.table.index[p.g]; ok {
			gs.adoptRunning(k, p)
		}
	}
	for i := range c.off {
		o := &c.off[i]
		if k, ok := gs.table.index[o.addr]; ok {
			gs.adoptOffThread(k, o)
		}
	}
}

// adoptRunning updates the slot of a goroutine that a processor runs.
func (gs *goroutines) adoptRunning(i int32, p *processor) {
	s := &gs.table.slots[i]
	gs.markChanged(i)
	gs.setHead(s, &p.head)
	s.raw = p.gRaw
	th := &p.thread
	s.halted, s.view, s.tid, s.noCPU = gs.account.number, running, th.TID, p.noCPU || p.asleep
	if th.Late {
		gs.loseStack(i)
		s.busy = p.awake
		return
	}
	w := gs.parkedContext(&p.head)
	// In a system call, the stack begins at the call's entry, as
	// it does for threads that aren't halted.
	w.OnThread = p.head.status != goruntime.GSyscall
	w.Regs = unwind.Registers{PC: th.PC, SP: th.SP, LR: th.LR}
	if p.head.schedSP == 0 && p.head.within(th.SP) {
		// The scheduler is just resuming the goroutine (gogo):
		// its stack pointer is in the register already, but no
		// longer in g.
		w.SchedSP = th.SP
	}
	w.VDSOPC, w.VDSOSP = memory.Word(p.mRaw, gs.t.l.M.VDSOPC), memory.Word(p.mRaw, gs.t.l.M.VDSOSP)
	gs.unwind(i, memory.Copy(p.pieces[:]), w, th.General[:])
	// A thread in an uninterruptible sleep, such as for a disk,
	// may have been woken by the time that it stops, and then
	// seems to have run.
	s.busy = p.awake && !th.Asleep()
}

// adoptOffThread updates the slot of a goroutine that the halt
// saw on no processor.
func (gs *goroutines) adoptOffThread(i int32, o *offThread) {
	s := &gs.table.slots[i]
	if o.head.hi == 0 {
		return // it could not be read
	}
	s.raw, s.halted = o.raw, gs.account.number
	if !o.head.exists() {
		gs.markChanged(i)
		s.view = absent
		return
	}
	if o.head.still() && !o.copied && !o.queued && gs.t.g.unchanged(o.raw, &s.head) {
		return
	}
	gs.markChanged(i)
	gs.setHead(s, &o.head)
	switch {
	case o.copied:
		gs.unwind(i, memory.Copy{o.stack}, gs.parkedContext(&o.head), nil)
		s.view = known
	case !o.head.still():
		s.view = moving
	}
	if o.queued && s.view == known {
		s.view = queued
	}
}
