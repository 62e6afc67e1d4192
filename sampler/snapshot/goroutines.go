//go:build linux && (amd64 || arm64)

package snapshot

import (
	"fmt"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders"
	"github.com/cpprof/cpprof/sampler/target/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// goroutines are the target's goroutines: what the samples so
// far have shown, and the current sample. The phases of a sample
// work on them one after the other; the halt only reads them.
type goroutines struct {
	t       *target
	table   table
	account account
	u       *unwind.Unwinder
	stacks  *stacks // in the codes of the current sink
	finder  *holders.Finder

	context unwind.Context // for the stack that is being unwound
	memory  stackMemory    // likewise
}

// An account is what the current sample found out about the
// goroutines, with statistics.
type account struct {
	number    uint32              // number of the sample, from 1 on
	changed   []int32             // slots whose state may have changed
	changes   []sampledata.Change // states that did
	reused    int                 // number of stacks that were reused without reading them
	rechecked int                 // number of these that were read again as a check
	wrong     int                 // number of these that had changed
}

// begin starts a sample. If the sink is not the one of the
// previous sample, everything must be reported again.
func (gs *goroutines) begin(sink sampledata.Sink) {
	if gs.stacks == nil || gs.stacks.sink != sink {
		gs.stacks = newStacks(sink, gs.t.bin, gs.u)
		for i := range gs.table.slots {
			s := &gs.table.slots[i]
			*s = slot{addr: s.addr, entry: s.entry}
			gs.table.unrest(s)
		}
		gs.finder.Reset()
	}
	a := &gs.account
	*a = account{number: a.number + 1, changed: a.changed[:0], changes: a.changes[:0]}
	gs.memory.begin(a.number)
	gs.finder.Begin(a.number)
}

// add creates slots for new goroutines.
func (gs *goroutines) add(addrs []uint64) {
	if len(addrs) > 0 {
		gs.table.add(addrs)
	}
	gs.finder.Grow(len(gs.table.slots))
}

// addPart creates slots for a large part of all goroutines.
func (gs *goroutines) addPart(addrs []uint64) {
	gs.table.addPart(addrs)
	gs.finder.Grow(len(gs.table.slots))
}

// markChanged puts a slot on the list of those whose state may
// have changed.
func (gs *goroutines) markChanged(i int32) {
	if s := &gs.table.slots[i]; s.changed != gs.account.number {
		s.changed = gs.account.number
		gs.table.unrest(s)
		gs.account.changed = append(gs.account.changed, i)
	}
}

// isChanged reports whether a slot is on that list.
func (gs *goroutines) isChanged(i int32) bool { return gs.table.slots[i].changed == gs.account.number }

// distrust is called when the halt fails. It makes the next
// sample find out everything again that this one has begun to
// find out.
func (gs *goroutines) distrust() {
	for _, i := range gs.account.changed {
		if s := &gs.table.slots[i]; s.view != unread {
			s.view = moving
		}
	}
}

// setHead sets a newer head of a slot. If it is the head of
// another goroutine, the slot's goroutine has ended.
func (gs *goroutines) setHead(s *slot, h *head) {
	if s.announced && s.head.goid != h.goid {
		gs.end(s)
	}
	if gs.otherThread(s, h) && s.asked != gs.account.number {
		s.tid = 0
	}
	s.head = *h
}

// otherThread reports whether a goroutine in a system call may
// have another thread than at the slot's head. A new m may have
// the address of an earlier one.
func (gs *goroutines) otherThread(s *slot, h *head) bool {
	return s.head.m != h.m || s.head.seq != h.seq
}

// setState changes the state of a goroutine in the sample. If it
// waits again, it has run since the previous sample.
func (gs *goroutines) setState(s *slot, now sampledata.State, again bool) {
	s.state = now
	changes := gs.account.changes
	if k := int(s.change); k < len(changes) && changes[k].Goroutine == s.id && !changes[k].Gone {
		changes[k].State = now
		return
	}
	s.change = int32(len(changes))
	gs.account.changes = append(changes, sampledata.Change{Goroutine: s.id, Again: again, State: now})
}

// end reports in the sample that the goroutine of a slot has ended.
func (gs *goroutines) end(s *slot) {
	gs.account.changes = append(gs.account.changes, sampledata.Change{Goroutine: s.id, Gone: true})
	s.announced = false
	// otherwise this is known of the goroutine that has the slot now
	if s.asked != gs.account.number {
		s.tid, s.busy = 0, false
	}
}

// parkedContext returns the unwinder's input for a goroutine
// that has no thread, or whose thread isn't halted. It is valid
// until the next call.
func (gs *goroutines) parkedContext(h *head) *unwind.Context {
	gs.context = unwind.Context{
		StackLo: h.lo, StackHi: h.hi, SchedPC: h.schedPC, SchedSP: h.schedSP, SchedLR: h.schedLR,
		SyscallPC: h.sysPC, SyscallSP: h.sysSP,
	}
	return &gs.context
}

// unwind unwinds the stack of a slot's goroutine from copied
// memory, and passes it to the finder. registers are the
// thread's; nil if the goroutine has none.
func (gs *goroutines) unwind(i int32, mem memory.Copy, c *unwind.Context, registers []uint64) {
	s := &gs.table.slots[i]
	s.stack = gs.stacks.unwind(mem, c)
	gs.show(i, mem, registers)
}

// show passes the stack of a slot's goroutine that was just
// unwound to the finder.
func (gs *goroutines) show(i int32, mem memory.Copy, registers []uint64) {
	gs.memory.Copy = mem
	gs.finder.Stack(i, &holders.Stack{
		Frames: gs.stacks.frames, Memory: &gs.memory, Registers: registers,
		Deferred: gs.t.g.deferredOf(gs.table.slots[i].raw), Partial: gs.stacks.partial,
	})
}

// loseStack marks the stack of a slot's goroutine as unknown:
// its thread never got a CPU on which to stop, so its registers
// are not known.
func (gs *goroutines) loseStack(i int32) {
	gs.table.slots[i].stack = stack{node: sampledata.NoStack, torn: true}
	gs.finder.Forget(i)
	gs.warn("late-thread",
		fmt.Sprintf("a thread waited for a CPU for more than %v; what its goroutine ran is not known", lateLimit), 1)
}

// warn adds a warning to the recording.
func (gs *goroutines) warn(kind, text string, count int64) {
	gs.stacks.sink.Warn(kind, text, count)
}
