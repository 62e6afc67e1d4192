package blame

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/syncflow"
)

// Who is to have a lock that nobody has come to hold yet? In starvation mode, Unlock of a sync.Mutex hands it to the waiter
// that it wakes: from then on nobody else can take it, though that one is yet to run, to mark it as locked, and to return from
// Lock. So the lock has a holder, whose stack doesn't show it:
//
//	holder:   Unlock: clears "locked", gives the waiter the ticket 1 and wakes it
//	  halt  → the mutex says "starving", neither "locked" nor "woken"; the woken one's sudog has the ticket 1
//	waiter:   runs, sets "locked", returns from Lock
//
// In normal mode the one that is woken competes with whoever comes, and nobody has the lock meanwhile. Nor has a reader that
// a writer's Unlock of a sync.RWMutex wakes: a reader that comes in time goes on in its place.

// beingHandedOver reports whether a lock was given back in starvation mode, and not taken yet.
func beingHandedOver(lock []byte) bool {
	const state = goruntime.MutexLocked | goruntime.MutexWoken | goruntime.MutexStarving
	return len(lock) >= goruntime.MutexSize && lock[0]&state == goruntime.MutexStarving
}

// addSuccessors adds to the locks that goroutines wait for those that did so, too, and were woken.
func (h *holders) addSuccessors() {
	for _, list := range h.halt.Woken {
		for _, key := range list {
			if h.records[key].semaphore.addr == 0 {
				continue // most: these were not parked for a lock
			}
			s := h.sample.Sighting(key)
			if s.ParkedBy.Text != goruntime.MutexLock || !h.isSuccessor(key, &s) {
				continue
			}
			lock := h.lockOf(key, &s)
			if k, ok := h.index[wish{lock, syncflow.Write}]; ok && lock != 0 && !slices.Contains(h.contended[k].successors, key) {
				h.contended[k].successors = append(h.contended[k].successors, key)
			}
		}
	}
}

// isSuccessor reports whether a goroutine did not wait any more in the halt, and its stack is that of the halt.
func (h *holders) isSuccessor(key int32, s *Sighting) bool {
	r := &h.records[key]
	return !r.waiting && s.InHalt && h.current(s, r.semaphore.sample)
}

// chooseSuccessors puts into the set the goroutine that a lock was handed to, and reports whether there is one. Else, if the
// lock is free for one that was woken, it puts there those that may take it.
func (h *holders) chooseSuccessors(c *contention, waiter *Sighting) (sure bool) {
	if len(c.inHalt) < goruntime.MutexSize || !h.halt.Consistent {
		return false
	}
	if state := c.inHalt[0]; state&goruntime.MutexLocked != 0 || state&(goruntime.MutexWoken|goruntime.MutexStarving) == 0 {
		return false
	}
	for _, key := range c.successors {
		s := h.sample.Sighting(key)
		if !together(&s, waiter) {
			continue
		}
		if beingHandedOver(c.inHalt) && h.reads.handedTo(&s, h.records[key].semaphore.sudog) {
			h.set = append(h.set[:0], s.ID)
			return true
		}
		h.set = append(h.set, s.ID)
	}
	return false
}
