//go:build linux && (amd64 || arm64)

package snapshot

import (
	"fmt"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/memory"
)

// adopt takes over into the slots what the halt found.
func (b *Backend) adopt() {
	c := &b.capture
	if len(c.made) > 0 {
		b.table.add(c.made)
		b.finder.Grow(len(b.table.slots))
	}
	for i := range c.procs {
		p := &c.procs[i]
		if !p.onThread() || !p.head.exists() {
			continue
		}
		if k, ok := b.table.index[p.g]; ok {
			b.adoptRunning(k, p)
		}
	}
	for i := range c.looks {
		l := &c.looks[i]
		if k, ok := b.table.index[l.addr]; ok {
			b.adoptLook(k, l)
		}
	}
}

// adoptRunning takes over a goroutine that a processor runs.
func (b *Backend) adoptRunning(i int32, p *processor) {
	s := &b.table.slots[i]
	b.touch(i)
	b.renew(s, &p.head)
	s.raw = p.gRaw
	th := &p.thread
	s.halted, s.view, s.tid = b.number, running, th.TID
	if th.Late {
		b.lose(i)
		s.busy = p.awake
		return
	}
	w := b.context(&p.head)
	// In a system call the stack is told from where the call was announced, as it is for threads that aren't halted.
	w.OnThread = p.head.status != goruntime.GSyscall
	w.Regs = unwind.Registers{PC: th.PC, SP: th.SP, LR: th.LR}
	if p.head.schedSP == 0 && p.head.within(th.SP) {
		// The goroutine is just being resumed (gogo): its stack pointer is in the register already, and gone from g.
		w.SchedSP = th.SP
	}
	w.VDSOPC, w.VDSOSP = b.capture.word(p.mRaw, b.t.l.M.VDSOPC), b.capture.word(p.mRaw, b.t.l.M.VDSOSP)
	b.unwind(i, memory.Copy(p.pieces[:]), w, th.General[:])
	// What slept uninterruptibly, for a disk, may be done by the time that it stops, and looks as if it had run.
	s.busy = p.awake && !th.Asleep()
}

// lose notes that the stack of a slot's goroutine is not known: its thread never got to a CPU, and told no registers.
func (b *Backend) lose(i int32) {
	s := &b.table.slots[i]
	s.stack = stack{node: sampledata.NoStack, torn: true}
	b.finder.Forget(i)
	b.stacks.sink.Warn("late-thread", fmt.Sprintf("a thread waited for a CPU for more than %v; what its goroutine ran is not known", lateLimit), 1)
}

// adoptLook takes over a goroutine that was looked at.
func (b *Backend) adoptLook(i int32, l *look) {
	s := &b.table.slots[i]
	if l.head.hi == 0 {
		return // it could not be read
	}
	s.raw, s.halted = l.raw, b.number
	if !l.head.exists() {
		b.touch(i)
		s.view = absent
		return
	}
	if !l.copied && l.head.still() { // its stack is the one that is known
		if b.t.g.unchanged(l.raw, &s.head) && !l.queued {
			return
		}
		b.touch(i)
		b.renew(s, &l.head)
	} else if l.copied {
		b.touch(i)
		b.renew(s, &l.head)
		b.unwind(i, memory.Copy{l.stack}, b.context(&l.head), nil)
		s.view = known
	} else {
		b.touch(i)
		b.renew(s, &l.head)
		s.view = moving
	}
	if l.queued && s.view == known {
		s.view = queued
	}
}

// resolve makes the states of the goroutines that may have changed, and lists those that did.
func (b *Backend) resolve() {
	torn := int64(0)
	for _, i := range b.changed {
		s := &b.table.slots[i]
		if s.view == absent {
			if s.told {
				b.gone(s)
			}
			s.head = b.t.g.decode(s.raw)
			continue
		}
		if !s.head.exists() {
			continue // it was never seen standing still
		}
		b.resolveOne(i, s)
		if s.stack.torn {
			torn++
		}
	}
	if torn > 0 {
		b.stacks.sink.Warn("torn-stack", "a stack does not reach its outermost frame", torn)
	}
}

func (b *Backend) resolveOne(i int32, s *slot) {
	if s.told && s.view == moving {
		return // it keeps the state that it had: nobody knows better
	}
	isNew := !s.told
	if isNew {
		b.introduce(s)
	}
	if now := b.stateOf(i, s); isNew || now != s.state {
		b.setState(s, now)
	}
	if s.view != known && s.head.still() {
		s.view = known
	} else if s.view != known {
		s.view = moving
	}
}

// introduce tells the sink of a goroutine.
func (b *Backend) introduce(s *slot) {
	c := b.t.g.creation(s.raw)
	st := b.stacks.start(c.startPC, b.t.Read)
	g := sampledata.Goroutine{ID: s.head.goid, Start: st.function, Parent: c.parent, System: st.system, GC: st.gc}
	if s.head.goid != 1 { // no go statement made the first
		g.Site = b.stacks.site(c.goPC)
	}
	s.id = b.stacks.sink.Goroutine(g)
	s.told, s.labels, s.labelsAt = true, 0, 0
}

// gone tells the sink that the goroutine of a slot has ended.
func (b *Backend) gone(s *slot) {
	b.changes = append(b.changes, sampledata.Change{Goroutine: s.id, Gone: true})
	s.told, s.tid, s.busy = false, 0, false
}

// stateOf says what a goroutine was doing.
func (b *Backend) stateOf(i int32, s *slot) sampledata.State {
	st := sampledata.State{Stack: s.stack.node, Torn: s.stack.torn, Labels: b.labelsOf(s)}
	run, reason := b.run(s)
	st.Run, st.Reason = run, reason.Text
	if run == sampledata.Blocked || run == sampledata.Waiting {
		if b.finder.Wait(i, reason, &s.state, &st, b.t.g.waitingOf(s.raw)) {
			b.nameLock(s, st.Lock)
		}
	}
	return st
}

// run says whether a goroutine runs, and what it waits for where it waits.
func (b *Backend) run(s *slot) (sampledata.RunState, goruntime.WaitReason) {
	var none goruntime.WaitReason
	if s.view == running && s.head.status != goruntime.GSyscall {
		return sampledata.Running, none // whatever the status: the collector's and the stopped world's work is marked as waiting
	}
	switch s.head.status {
	case goruntime.GSyscall:
		switch {
		case !s.busy:
			return sampledata.Waiting, goruntime.WaitReason{Text: "syscall"}
		case s.view == running || s.holds:
			return sampledata.Running, none
		}
		return sampledata.Detached, none
	case goruntime.GRunnable, goruntime.GPreempted, goruntime.GRunning, goruntime.GCopystack:
		return sampledata.Runnable, none
	case goruntime.GWaiting, goruntime.GLeaked:
		return b.waiting(s)
	}
	b.stacks.sink.Warn("unknown-status", fmt.Sprintf("goroutine %d has the status %d, which is not known", s.head.goid, s.head.status), 1)
	return sampledata.Unknown, none
}

func (b *Backend) waiting(s *slot) (sampledata.RunState, goruntime.WaitReason) {
	reason := b.t.reason(&s.head)
	if reason.Text == "" {
		b.stacks.sink.Warn("unknown-wait-reason", fmt.Sprintf("goroutine %d waits for reason %d, which has no text", s.head.goid, s.head.reason), 1)
	}
	if reason.Awaits == goruntime.AwaitsLock {
		return sampledata.Blocked, reason
	}
	return sampledata.Waiting, reason
}

// processors says what each processor runs. One whose goroutine sleeps in a system call is free to be taken away, so
// it counts as idle.
func (b *Backend) processors() []sampledata.GoroutineID {
	c := &b.capture
	out := make([]sampledata.GoroutineID, len(c.procs))
	for i := range c.procs {
		p := &c.procs[i]
		out[i] = sampledata.IdleProcessor
		switch c.status(p) {
		case goruntime.PRunning:
			out[i] = sampledata.SystemProcessor
			if s := b.table.at(p.g); s != nil && s.told && s.head.goid == p.head.goid {
				if s.state.Run == sampledata.Running {
					out[i] = s.id
				} else {
					out[i] = sampledata.IdleProcessor
				}
			}
		case goruntime.PSyscall:
			if s := b.table.at(p.g); s != nil && s.told && s.state.Run == sampledata.Running {
				out[i] = s.id
			}
		case goruntime.PGCStop:
			out[i] = sampledata.SystemProcessor
		}
	}
	return out
}
