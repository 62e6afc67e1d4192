//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/halt"
	"github.com/cpprof/cpprof/sampler/internal/syncflow"
)

// Who is to have a lock that nobody has come to hold yet. In starvation mode, Unlock of a sync.Mutex hands it to the waiter
// that it wakes: from then on nobody else can take it, though that one is yet to run, to mark it as locked, and to return
// from Lock. In normal mode the one that is woken competes with whoever comes, and nobody has the lock meanwhile. Nor has a
// reader that a writer's Unlock of a sync.RWMutex wakes: one that comes in time goes on in its place.

// Bounds of what is read in the halt.
const (
	maxExpected = 64  // locks
	maxSudogs   = 128 // of goroutines that were seen to wait for them
)

// An expected is what is read in the halt, by address.
type expected []halt.Range

// expect lists the locks that goroutines waited for at the last sample, and of those that do now what is known already.
func (b *Backend) expect() {
	h := &b.holders
	h.locks, h.tickets = h.locks[:0], h.tickets[:0]
	if !h.active {
		return
	}
	for i := range h.contended {
		b.expectLock(h.contended[i].lock)
	}
	for _, i := range b.blocked {
		s := &b.table.slots[i]
		b.expectLock(b.reason(&s.head).LockAt(s.semaphoreOf()))
	}
}

func (b *Backend) expectLock(lock uint64) {
	if e := &b.holders.locks; lock != 0 && len(*e) < maxExpected && e.of(lock) == nil {
		*e = append(*e, halt.Range{Addr: lock, Buf: b.arena.Get(goruntime.RWMutexSize)})
	}
}

// expectTickets lists, in the halt, what goroutines wait with for locks, if one is being handed over.
func (b *Backend) expectTickets() {
	h, size := &b.holders, b.t.l.Sudog.Size
	if size <= 0 || size > 1<<12 || !slices.ContainsFunc(h.locks, func(r halt.Range) bool { return beingHandedOver(r.Buf) }) {
		return
	}
	for _, addr := range h.sudogs {
		h.tickets = append(h.tickets, halt.Range{Addr: addr, Buf: b.arena.Get(int(size))})
	}
}

// beingHandedOver tells whether a lock was given back in starvation mode, and not taken yet.
func beingHandedOver(lock []byte) bool {
	return len(lock) >= goruntime.MutexSize && lock[0]&(goruntime.MutexLocked|goruntime.MutexWoken|goruntime.MutexStarving) == goruntime.MutexStarving
}

// of gives what was read at an address, nil for nothing.
func (e expected) of(addr uint64) []byte {
	if i := slices.IndexFunc(e, func(r halt.Range) bool { return r.Addr == addr }); i >= 0 {
		return e[i].Buf
	}
	return nil
}

// noteSudog remembers a sudog for the next halts. The runtime uses few of them again and again.
func (h *holders) noteSudog(addr uint64) {
	if addr == 0 {
		return
	}
	if i := slices.Index(h.sudogs, addr); i >= 0 {
		h.sudogs = slices.Delete(h.sudogs, i, i+1)
	} else if len(h.sudogs) == maxSudogs {
		h.sudogs = slices.Delete(h.sudogs, 0, 1)
	}
	h.sudogs = append(h.sudogs, addr)
}

// consistent tells whether what the halt read is of one moment.
func (b *Backend) consistent() bool { return !b.capture.changed }

// proposeNext adds to the locks that goroutines wait for those that did and were woken. They became runnable since the last
// sample, or were before the halt.
func (b *Backend) proposeNext() {
	h := &b.holders
	for _, list := range [][]int32{b.changed, b.runnable} {
		for _, i := range list {
			s := &b.table.slots[i]
			reason := b.reason(&s.head)
			lock := reason.LockAt(s.semaphoreOf())
			if lock == 0 || reason.Text != goruntime.MutexLock || !b.isNext(i, s) {
				continue
			}
			if k, ok := h.index[wish{lock, syncflow.Write}]; ok && !slices.Contains(h.contended[k].next, i) {
				h.contended[k].next = append(h.contended[k].next, i)
			}
		}
	}
}

// isNext tells whether a goroutine did not wait any more in the halt, and its stack is of then.
func (b *Backend) isNext(i int32, s *slot) bool {
	return s.told && !s.waits && b.inHalt(i) && (s.view == known || s.sema.sample == b.number)
}

// handed tells whether, in the halt, a goroutine had been woken with what it waited for, and needn't compete. (For one that
// is still queued, the ticket is 0, or random.)
func (b *Backend) handed(s *slot) bool {
	l := &b.t.l.Sudog
	raw := b.holders.tickets.of(s.sema.sudog)
	return l.Ticket.Has() && len(raw) >= int(max(l.G+8, l.Ticket+4)) && binary.LittleEndian.Uint64(raw[l.G:]) == s.addr &&
		binary.LittleEndian.Uint32(raw[l.Ticket:]) == 1
}

// addNext adds to the set the goroutine that a lock was handed to, and tells whether there is one. Else, where the lock is
// free for one that was woken, it adds those that may take it.
func (b *Backend) addNext(c *contention, waiter *slot) (sure bool) {
	if len(c.halted) < goruntime.MutexSize || !b.consistent() {
		return false
	}
	if state := c.halted[0]; state&goruntime.MutexLocked != 0 || state&(goruntime.MutexWoken|goruntime.MutexStarving) == 0 {
		return false
	}
	h := &b.holders
	for _, i := range c.next {
		s := &b.table.slots[i]
		switch {
		case !b.together(s, waiter):
		case beingHandedOver(c.halted) && b.handed(s):
			h.set = append(h.set[:0], s.id)
			return true
		default:
			h.set = append(h.set, s.id)
		}
	}
	return false
}
