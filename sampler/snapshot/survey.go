//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"time"

	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A survey is the first phase of a sample. It reads the
// goroutines, and the stacks that don't change, while the target
// runs. If there are few goroutines, it is a part of the halt,
// and leaves all stacks that must be read to the capture.
// Example with three goroutines, each with a slot:
//
//	4  parked; its g is unchanged since the previous sample    its stack is reused without reading it             known
//	5  parked, but its count of runs has changed               its stack is read and unwound                      known
//	6  running                                                 its stack changes all the time: the halt sees it   moving
//
// A g that has no goroutine is absent. After the survey, each
// slot has one of these views.
//
// Is it right to reuse a stack? Yes, if the goroutine has not
// run. The runtime counts how often each goroutine stops
// running, modulo 256 (g.trackingSeq). So reuse is wrong only if
// the goroutine has run exactly 256 times, or a multiple of
// that, since the previous sample, and is parked at the same
// place with the same stack pointer again. To measure how often
// that happens, each sample reads a few stacks, chosen at
// random, that it could reuse. The recording has the number of
// these, and of those that had changed.
type survey struct {
	*goroutines
	reader *halt.Reader
	arena  *memory.Arena
	rest   rest

	// What the survey has found, as slots.
	moving    []int32 // for the halt to see
	runnable  []int32 // also for the halt: they may have begun to run
	inSyscall []int32

	sampled bool // a sample has succeeded
	first   firstLimits
	unread  int64 // number of stacks that were not read for lack of time
	left    int64 // number of goroutines that were left out likewise
	began   time.Time
	headers time.Duration // how long it took to read the headers

	// also for the halt: they have moved since the previous
	// sample, and may move again
	moved []int32

	// Reused by every sample.
	fresh     []int32 // slots whose stacks must be read
	unsettled []int32 // the ones that moved meanwhile and must be read again
	checked   []int32 // slots of the spot check
	heads     []head  // the heads with which the stacks in ranges were read
	ranges    []memory.Range
	after     []memory.Range
}

// few is the number of goroutines up to which the survey is a
// part of the halt: to read their headers then takes some
// microseconds.
const few = 200

// inHalt reports whether the survey is to be a part of the halt.
// A survey before it would last longer than the goroutines of
// some programs take turns, and take a CPU from them meanwhile.
// But the first sample reads the stacks of all goroutines.
func (v *survey) inHalt() bool { return v.account.number > 1 && len(v.table.slots) <= few }

// run does the whole phase before the halt.
func (v *survey) run(ctx context.Context) error {
	v.began = time.Now()
	var skip func([]entry) bool
	if v.rest.begin(v.t, v.reader); v.rest.rested {
		skip = v.areSettled
	}
	if err := v.readHeaders(ctx, skip); err != nil {
		return err
	}
	v.rest.end()
	v.headers = time.Since(v.began)
	return v.copyStacks(ctx)
}

// runInHalt does the phase in the halt, and leaves it to the
// halt to copy stacks.
func (v *survey) runInHalt() error {
	if err := v.readHeaders(context.Background(), nil); err != nil {
		return err
	}
	for _, i := range v.fresh {
		v.leaveToHalt(i, &v.table.slots[i])
	}
	return nil
}

// readHeaders reads the goroutines, and finds out whose stacks
// must be read. It leaves out the spans for which skip returns
// true, if it is not nil.
func (v *survey) readHeaders(ctx context.Context, skip func([]entry) bool) error {
	v.moving, v.runnable, v.inSyscall = v.moving[:0], v.runnable[:0], v.inSyscall[:0]
	v.moved, v.fresh, v.unread, v.left = v.moved[:0], v.fresh[:0], 0, 0
	v.table.dropCopies()
	addrs, err := v.table.list(v.t.Process, v.t.bin.Globals.AllGs)
	if err != nil {
		return err
	}
	if !v.sampled {
		return v.readFirst(ctx, addrs)
	}
	if err := v.addMany(ctx, addrs); err != nil {
		return err
	}
	return v.table.read(ctx, 0, v.reader, skip, v.scan)
}

// scan inspects the g of a span that was just read.
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
			e.print, e.known = o.print(raw), false // still without a goroutine
		default:
			v.table.keepCopy(s, raw)
			v.classify(e.slot, s)
		}
	}
}

// areSettled reports whether nothing is open about the unchanged
// g of a span. It counts their stacks as reused then.
func (v *survey) areSettled(entries []entry) bool {
	reused := 0
	for i := range entries {
		e := &entries[i]
		if e.print == 0 || !v.isSettled(e) {
			return false
		}
		if e.known {
			reused++
		}
	}
	v.account.reused += reused
	return true
}

// isSettled reports whether nothing more needs to be found out
// about an unchanged entry.
func (v *survey) isSettled(e *entry) bool {
	return !e.known || v.finder.Interest()&^e.answered == 0
}

// reuse reuses the stack of a goroutine, unless the finder wants
// to see it again.
func (v *survey) reuse(e *entry, s *slot, raw []byte) {
	if len(v.fresh) < maxInBatch && v.finder.WantsStack(e.slot) {
		v.table.keepCopy(s, raw)
		v.markChanged(e.slot)
		v.fresh = append(v.fresh, e.slot)
		return
	}
	v.account.reused++
	if !v.enlist(e.slot, s) &&
		(s.head.status == goruntime.GWaiting || s.head.status == goruntime.GLeaked) {
		e.print, e.known, e.answered = v.t.g.print(raw), true, v.finder.Answered(e.slot)
	}
}

// classify finds out what has happened to a slot whose g has changed.
func (v *survey) classify(i int32, s *slot) {
	h := v.t.g.decode(s.raw)
	v.markChanged(i)
	if len(v.moved) < maxMoved {
		v.moved = append(v.moved, i)
	}
	if h.status == goruntime.GWaiting {
		v.finder.Parked(v.t.reasons.At(h.reason).Awaits)
	}
	switch {
	case !h.exists():
		s.view = absent
		if !s.announced { // otherwise its end is still to be reported, for the goroutine in head
			s.head = h
		}
	case !h.still():
		v.leaveToHalt(i, s)
	case s.view != absent && s.view != unread && s.head.sameStack(&h):
		v.setHead(s, &h)
		s.view = known
		v.account.reused++
		v.enlist(i, s)
	default:
		v.fresh = append(v.fresh, i)
	}
}

// leaveToHalt adds a goroutine that moves to the list of those
// that the halt must see.
func (v *survey) leaveToHalt(i int32, s *slot) {
	s.view = moving
	v.moving = append(v.moving, i)
}

// enlist adds a goroutine whose stack is known to the lists that
// later parts of the sample need. It reports whether it added it
// to any list.
func (v *survey) enlist(i int32, s *slot) bool {
	switch s.head.status {
	case goruntime.GRunnable:
		v.runnable = append(v.runnable, i)
	case goruntime.GSyscall:
		v.inSyscall = append(v.inSyscall, i)
		v.finder.AtHalt(i, false) // it may hold a lock, and leave the call before it is read again
	case goruntime.GWaiting:
		return v.finder.AtHalt(i, v.t.reasons.At(s.head.reason).Awaits == goruntime.AwaitsLock)
	default:
		return v.finder.AtHalt(i, false)
	}
	return true
}

// maxMoved is how many goroutines the halt sees only because
// they have moved since the previous sample.
const maxMoved = 128
