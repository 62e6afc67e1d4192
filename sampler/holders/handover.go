package holders

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// Who has a lock that nobody has taken yet? In starvation mode,
// Unlock of a sync.Mutex hands the lock to the waiter that it
// wakes. From then on nobody else can take it, but the waiter
// has yet to run, to mark the lock as locked, and to return from
// Lock. So the lock has a holder whose stack does not show it:
//
//	holder:   Unlock: clears "locked", sets the ticket in the waiter's sudog to 1, and wakes the waiter
//	  halt  → the mutex is "starving", neither "locked" nor "woken"; the sudog of the woken waiter has the ticket 1
//	waiter:   runs, sets "locked", returns from Lock
//
// In normal mode, the woken waiter competes with all newcomers,
// and nobody has the lock in the meantime.
//
// A writer that unlocks a sync.RWMutex wakes the readers. The
// next writer waits for each of them, even before it has run.
// But a reader that comes just then may go first, in the place
// of one that was woken.

// beingHandedOver reports whether a lock was released in starvation mode and
// not taken yet.
func beingHandedOver(lock []byte) bool {
	const state = goruntime.MutexLocked | goruntime.MutexWoken | goruntime.MutexStarving
	return len(lock) >= goruntime.MutexSize && lock[0]&state == goruntime.MutexStarving
}

// addSuccessors adds the goroutines that were woken to take a
// lock to the locks that others still wait for.
func (h *holders) addSuccessors() {
	for _, list := range h.halt.Woken {
		for _, key := range list {
			if h.records[key].semaphore.addr == 0 {
				continue // most goroutines: they were not parked for a lock
			}
			s := h.sample.Sighting(key)
			lock := h.lockOf(key, &s)
			if lock == 0 || !h.isSuccessor(key, &s) {
				continue
			}
			switch s.ParkedBy.Text {
			case goruntime.MutexLock:
				h.addSuccessor(key, lock)
			case goruntime.ReadLock:
				h.addCandidate(key, syncflow.Held{Lock: lock, Mode: syncflow.Read,
					Certainty: syncflow.Doubtful})
			}
		}
	}
}

// addSuccessor adds a goroutine to those that were woken to take a mutex.
func (h *holders) addSuccessor(key int32, lock uint64) {
	k, ok := h.index[wish{lock, syncflow.Write}]
	if ok && !slices.Contains(h.contended[k].successors, key) {
		h.contended[k].successors = append(h.contended[k].successors, key)
	}
}

// isSuccessor reports whether a goroutine no longer waited in
// the halt, and its stack was read in the halt.
func (h *holders) isSuccessor(key int32, s *Sighting) bool {
	r := &h.records[key]
	return !r.waiting && s.InHalt && h.current(s, r.semaphore.sample)
}

// chooseSuccessors puts the goroutine that a lock was handed to
// into the set, and returns true. If there is none, and the lock
// is free for a goroutine that was woken, it puts those that may
// take the lock into the set, and returns false.
func (h *holders) chooseSuccessors(c *contention, waiter *Sighting) (sure bool) {
	if len(c.inHalt) < goruntime.MutexSize || !h.halt.Consistent {
		return false
	}
	if state := c.inHalt[0]; state&goruntime.MutexLocked != 0 ||
		state&(goruntime.MutexWoken|goruntime.MutexStarving) == 0 {
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
