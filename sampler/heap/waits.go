package heap

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// waitOf returns what a goroutine waits for.
func waitOf(g *goroutine) sampledata.Wait {
	r := g.reason
	switch {
	case r.Text == goruntime.NoCases, r.Text == goruntime.Select && g.never:
		return sampledata.ForNothing
	case g.never:
		return sampledata.ForNil
	case r.Text == goruntime.ReadLock:
		return sampledata.ForReadLock
	case r.Awaits == goruntime.AwaitsLock:
		return sampledata.ForLock
	case r.Awaits == goruntime.AwaitsChannel && r.Sends:
		return sampledata.ForReceiver
	case r.Awaits == goruntime.AwaitsChannel:
		return sampledata.ForSender
	case r.Awaits == goruntime.AwaitsChannels:
		return sampledata.ForChannels
	case r.Text == goruntime.CondWait:
		return sampledata.ForCondition
	}
	return sampledata.ForGroup
}

// mayBeCandidate reports whether a wait may never end. The runtime's own
// profile examines the same.
func mayBeCandidate(r goruntime.WaitReason) bool { return r.Awaits != goruntime.AwaitsOther }

// ofChannels reports whether a wait is for channels.
func ofChannels(r goruntime.WaitReason) bool {
	return r.Awaits == goruntime.AwaitsChannel || r.Awaits == goruntime.AwaitsChannels
}

// readWaits finds what parked goroutines wait for.
func (x *Examination) readWaits(c copier, w *world) {
	x.readSemaphores(c, w)
	var todo []*goroutine
	var at []uint64
	for i := range w.gs {
		g := &w.gs[i]
		switch {
		case !g.waits():
		case g.reason.Never, g.reason.Text == goruntime.Select && g.waiting == 0:
			g.candidate, g.never = true, true
		case !mayBeCandidate(g.reason) || g.reason.Text == goruntime.CondWait:
		case ofChannels(g.reason):
			if g.waiting != 0 {
				g.candidate = true
				todo, at = append(todo, g), append(at, g.waiting)
			}
		default:
			if s := w.waiters[g.addr]; s.semaphore != 0 {
				g.candidate, g.sudogs, g.awaits = true, []uint64{s.sudog}, []uint64{s.semaphore}
			}
		}
	}
	for len(todo) > 0 {
		todo, at = x.readSudogs(c, todo, at)
	}
}

// maxCases is the number of channels up to which a select is examined.
const maxCases = 1 << 16

// readSudogs reads one sudog of each goroutine, and returns
// those that have another one.
func (x *Examination) readSudogs(c copier, todo []*goroutine, at []uint64) ([]*goroutine,
	[]uint64) {
	l := &x.bin.Layout.Sudog
	channel := l.CAddr.Or(l.C)
	n := 0
	for i, b := range c.structs(at, int(l.Size)) {
		g := todo[i]
		if memory.Word(b, l.G) != g.addr || memory.Word(b, channel) == 0 || len(g.sudogs) == maxCases {
			g.candidate, g.doubt = false, "the channels that it waits for are not known"
			continue
		}
		g.sudogs = append(g.sudogs, at[i])
		g.content = append(g.content, wordsOf(b)...)
		g.awaits = append(g.awaits, memory.Word(b, channel))
		if next := memory.Word(b, l.WaitLink); next != 0 {
			todo[n], at[n] = g, next
			n++
		}
	}
	return todo[:n], at[:n]
}

// readSemaphores reads who waits for which semaphore.
func (x *Examination) readSemaphores(c copier, w *world) {
	l := &x.bin.Layout.Sudog
	elem := l.ElemAddr.Or(l.Elem)
	w.waiters = map[uint64]waiter{}
	each := goruntime.SemaRootSize(x.bin.Arch)
	table := c.get(x.bin.Globals.SemTable, goruntime.SemaRoots*each)
	seen := map[uint64]bool{}
	var level []uint64
	add := func(sudog uint64) {
		if sudog != 0 && !seen[sudog] && len(seen) < maxGoroutines {
			seen[sudog] = true
			level = append(level, sudog)
		}
	}
	for i := range goruntime.SemaRoots {
		add(memory.Word(table, i*each+goruntime.SemaRootTreap))
	}
	for len(level) > 0 {
		w.semas = append(w.semas, level...)
		now := level
		level = nil
		for i, b := range c.structs(now, int(l.Size)) {
			w.waiters[memory.Word(b, l.G)] = waiter{now[i], memory.Word(b, elem)}
			add(memory.Word(b, l.Next))
			add(memory.Word(b, l.Prev))
			add(memory.Word(b, l.WaitLink))
		}
	}
}

// finish reads what a lazy reading has left, and finds the
// conditions that goroutines wait for.
func (x *Examination) finish(c copier, w *world, lazy bool) {
	if lazy {
		x.readWaits(c, w)
		for len(w.rest) > 0 {
			n := min(len(w.rest), 1024)
			c.r.ReadRanges(w.rest[:n]) // what can't be read is 0, and proved by a halt
			w.rest = w.rest[n:]
		}
	}
	lists := map[uint64]map[uint64]uint64{} // the sudogs of each list, by g
	for i := range w.gs {
		if g := &w.gs[i]; g.waits() && g.reason.Text == goruntime.CondWait {
			x.findCondition(c, g, lists)
		}
	}
}

// findCondition finds the condition that a goroutine waits for:
// the one in the frame of Cond.Wait whose list has the
// goroutine.
func (x *Examination) findCondition(c copier, g *goroutine, lists map[uint64]map[uint64]uint64) {
	for _, cond := range x.condFrame(g) {
		list := cond + goruntime.CondList
		if cond == 0 || cond%8 != 0 || cond >= g.lo && cond < g.hi {
			continue
		}
		waiters, known := lists[list]
		if !known {
			waiters = x.waitersOf(c, list+goruntime.NotifyListHead)
			lists[list] = waiters
		}
		if sudog := waiters[g.addr]; sudog != 0 {
			g.candidate, g.sudogs, g.awaits = true, []uint64{sudog}, []uint64{list}
			return
		}
	}
	g.doubt = "the condition that it waits for is not known"
}

// maxWaiters is the number of waiters up to which a list is read.
const maxWaiters = 1 << 17

// waitersOf returns the sudogs in a list, by g.
func (x *Examination) waitersOf(c copier, head uint64) map[uint64]uint64 {
	l := &x.bin.Layout.Sudog
	var waiters map[uint64]uint64
	for s, n := c.word(head), 0; s != 0 && n < maxWaiters; n++ {
		b := c.get(s, int(l.Size))
		g := memory.Word(b, l.G)
		if b == nil || !x.isG[g] || waiters[g] != 0 {
			break
		}
		if waiters == nil {
			waiters = map[uint64]uint64{}
		}
		waiters[g] = s
		s = memory.Word(b, l.Next)
	}
	return waiters
}
