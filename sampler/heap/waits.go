package heap

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/gostate"
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
func (x *Examination) readWaits(c gostate.Copier, w *world) {
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
			if s := w.waiters[g.addr]; s.Semaphore != 0 {
				g.candidate, g.sudogs, g.awaits = true, []uint64{s.Sudog}, []uint64{s.Semaphore}
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
func (x *Examination) readSudogs(c gostate.Copier, todo []*goroutine, at []uint64) ([]*goroutine,
	[]uint64) {
	l := &x.bin.Layout.Sudog
	channel := l.CAddr.Or(l.C)
	n := 0
	for i, b := range c.Structs(at, int(l.Size)) {
		g := todo[i]
		if memory.Word(b, l.G) != g.addr || memory.Word(b, channel) == 0 || len(g.sudogs) == maxCases {
			g.candidate, g.doubt = false, "the channels that it waits for are not known"
			continue
		}
		g.sudogs = append(g.sudogs, at[i])
		g.content = append(g.content, gostate.Words(b)...)
		g.awaits = append(g.awaits, memory.Word(b, channel))
		if next := memory.Word(b, l.WaitLink); next != 0 {
			todo[n], at[n] = g, next
			n++
		}
	}
	return todo[:n], at[:n]
}

// readSemaphores reads who waits for which semaphore.
func (x *Examination) readSemaphores(c gostate.Copier, w *world) {
	table := c.Get(x.bin.Globals.SemTable, goruntime.SemaRoots*goruntime.SemaRootSize(x.bin.Arch))
	w.waiters, w.semas = c.Semaphores(table, &x.bin.Layout.Sudog, maxGoroutines)
}

// finish reads what a lazy reading has left, and finds the
// conditions that goroutines wait for.
func (x *Examination) finish(c gostate.Copier, w *world, lazy bool) {
	if lazy {
		x.readWaits(c, w)
		for len(w.rest) > 0 {
			n := min(len(w.rest), 1024)
			c.Reader.ReadRanges(w.rest[:n]) // what can't be read is 0, and proved by a halt
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
func (x *Examination) findCondition(c gostate.Copier, g *goroutine,
	lists map[uint64]map[uint64]uint64) {
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
func (x *Examination) waitersOf(c gostate.Copier, head uint64) map[uint64]uint64 {
	l := &x.bin.Layout.Sudog
	var waiters map[uint64]uint64
	for s, n := c.Word(head), 0; s != 0 && n < maxWaiters; n++ {
		b := c.Get(s, int(l.Size))
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
