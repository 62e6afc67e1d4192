//go:build linux && (amd64 || arm64)

package snapshot

import (
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/halt"
	"github.com/cpprof/cpprof/sampler/internal/memory"
)

// A survey is the first phase of a sample: it reads the goroutines and the stacks that lie still, while the target runs. Example
// with three goroutines, each of which has a slot:
//
//	4  parked; its g is as it was at the sample before     its stack is taken for unchanged, and not read     known
//	5  parked, but its count of runs has moved on          its stack is read and unwound                      known
//	6  running                                             its stack changes all the time: the halt sees it   moving
//
// A g that has no goroutine is absent. Afterwards each slot has one of these views.
//
// Is it right to take a stack for unchanged? It is if the goroutine has not run. The runtime counts how often each goroutine
// stops running, modulo 256 (g.trackingSeq). So this is wrong only if the goroutine has run exactly 256 times, or a multiple,
// since the sample before, and is parked at the same place with the same stack pointer again. A few stacks of each sample,
// chosen at random, are read all the same: the recording says how many, and how many of them had changed.
type survey struct {
	*goroutines
	reader *halt.Reader
	arena  *memory.Arena

	// What it found, as slots.
	moving    []int32 // for the halt
	runnable  []int32 // for the halt, too: it can have begun to run
	inSyscall []int32

	// Storage.
	fresh     []int32 // slots whose stacks are to be read
	unsettled []int32 // those of them that moved meanwhile, and are to be read again
	checked   []int32 // slots of the spot check
	heads     []head  // with which the stacks in ranges were read
	ranges    []memory.Range
	after     []memory.Range
}

// run does the phase.
func (v *survey) run() error {
	v.moving, v.runnable, v.inSyscall, v.fresh = v.moving[:0], v.runnable[:0], v.inSyscall[:0], v.fresh[:0]
	addrs, err := v.table.list(v.t.Process, v.t.bin.Globals.AllGs)
	if err != nil {
		return err
	}
	v.add(addrs)
	if err := v.table.read(v.reader, v.scan); err != nil {
		return err
	}
	v.copyStacks()
	v.spotCheck()
	return nil
}

// scan sees the g of a span that was just read.
func (v *survey) scan(buf []byte, entries []entry) {
	o := &v.t.g
	for i := range entries {
		e := &entries[i]
		raw := buf[e.at:][:o.size]
		if e.print != 0 && e.print == o.print(raw) && v.isSettled(e) {
			if e.known {
				v.account.reused++
			}
			continue
		}
		e.print = 0
		s := &v.table.slots[e.slot]
		switch {
		case s.view == known && o.unchanged(raw, &s.head):
			v.reuse(e, s, raw)
		case s.view == absent && !s.announced && o.unchanged(raw, &s.head) && !s.head.exists():
			e.print, e.known = o.print(raw), false // there is still no goroutine
		default:
			v.table.keepCopy(s, raw)
			v.classify(e.slot, s)
		}
	}
}

// isSettled reports whether nothing is left to be found out about what rests in an entry.
func (v *survey) isSettled(e *entry) bool { return !e.known || v.finder.Interest()&^e.answered == 0 }

// reuse takes the stack of a goroutine for unchanged, unless the finder wants to see it again.
func (v *survey) reuse(e *entry, s *slot, raw []byte) {
	if len(v.fresh) < maxInBatch && v.finder.WantsStack(e.slot) {
		v.table.keepCopy(s, raw)
		v.markChanged(e.slot)
		v.fresh = append(v.fresh, e.slot)
		return
	}
	v.account.reused++
	if !v.enlist(e.slot, s) && (s.head.status == goruntime.GWaiting || s.head.status == goruntime.GLeaked) {
		e.print, e.known, e.answered = v.t.g.print(raw), true, v.finder.Answered(e.slot)
	}
}

// classify finds out what has become of a slot whose g is not as it was.
func (v *survey) classify(i int32, s *slot) {
	h := v.t.g.decode(s.raw)
	v.markChanged(i)
	if h.status == goruntime.GWaiting {
		v.finder.Parked(v.t.reason(&h).Awaits)
	}
	switch {
	case !h.exists():
		s.view = absent
		if !s.announced { // else its end is still to be reported, and the head says whose
			s.head = h
		}
	case !h.still():
		v.leaveToHalt(i, s)
	case s.view != absent && s.head.sameStack(&h):
		v.setHead(s, &h)
		s.view = known
		v.account.reused++
		v.enlist(i, s)
	default:
		v.fresh = append(v.fresh, i)
	}
}

// leaveToHalt lets the halt find out about a goroutine that moves.
func (v *survey) leaveToHalt(i int32, s *slot) {
	s.view = moving
	v.moving = append(v.moving, i)
}

// enlist puts a goroutine whose stack is known on the lists of those that later parts of the sample have to do with. It reports
// whether there is such a list for it.
func (v *survey) enlist(i int32, s *slot) bool {
	switch s.head.status {
	case goruntime.GRunnable:
		v.runnable = append(v.runnable, i)
	case goruntime.GSyscall:
		v.inSyscall = append(v.inSyscall, i)
	case goruntime.GWaiting:
		return v.finder.AtHalt(i, v.t.reason(&s.head).Awaits == goruntime.AwaitsLock)
	default:
		return v.finder.AtHalt(i, false)
	}
	return true
}
