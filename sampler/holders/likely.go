package holders

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// If no stack proves that its goroutine holds a lock, the lock
// still has a holder: its state says so. If of all goroutines
// just one is at a place in its code at which it may hold the
// lock, it is likely the holder. Example:
//
//	if !l.disabled {
//		l.mu.Lock()
//	}
//	l.write() // one goroutine is here, others wait for l.mu: it holds l.mu, unless l was disabled when it came here
//
// That is more than a guess only if nothing is unknown about the
// other goroutines: their code is analysed, their stacks were
// read in this sample, and none of them may hold a lock at an
// unknown address.
//
// Nor may the lock have changed hands between the time at which
// the other goroutines were seen and the halt: no goroutine that
// waited for it has moved meanwhile.
//
// It must also have been seen to wait for the lock before:
// others wait for it all the time, and a goroutine that never
// does so goes past the place without the lock. Of readers that
// is not asked, as they rarely wait. Their number must be the
// lock's.
//
// If a goroutine may hold a lock and nothing leads to it any
// more, it may be the one that the goroutine has waited for
// last.
//
// If a goroutine was ever seen at such a place while another one
// held the lock, or nobody did, nobody is likely to hold it.

// maxSurveyed is the number of goroutines up to which likely
// holders are named.
const maxSurveyed = 10_000

// A known is an answer that is found out when it is needed.
type known uint8

const (
	notKnown known = iota
	no
	yes
)

// likely chooses among the goroutines that may hold the lock, by
// their stacks. The set has those that do, if there are any.
func (h *holders) likely(c *contention, waiter *Sighting) verdict {
	waited := h.addDoubtful(c, waiter)
	n := 1
	if c.mode == syncflow.Read {
		n, waited = c.readers(), true
	}
	if len(h.set) == n && waited && h.onlyThese(c) {
		return h.verdict(sampledata.Likely)
	}
	return h.verdict(sampledata.Ambiguous)
}

// addDoubtful adds those goroutines to the set that may hold the
// lock and did not move while its state said that it is taken.
// It reports whether all of them have waited for the lock
// before.
func (h *holders) addDoubtful(c *contention, waiter *Sighting) (waited bool) {
	waited = true
	for _, key := range c.doubtful {
		s := h.sample.Sighting(key)
		if together(&s, waiter) && c.takenFrom(&s) && !h.releasedSince(c, key) &&
			!slices.Contains(h.set, s.ID) {
			h.set = append(h.set, s.ID)
			waited = waited && h.records[key].waited.has(s.Wait.Goroutine, c.lock)
		}
	}
	return waited
}

// releasedSince reports whether the lock was released while a
// goroutine stood where it is: then that goroutine does not hold
// it. A goroutine that waited for the lock stops waiting only if
// it is released.
func (h *holders) releasedSince(c *contention, key int32) bool {
	return h.released[c.wish] > h.records[key].held.sample
}

// maxRemembered bounds the remembered locks: the released and the refuted
// ones.
const maxRemembered = 1 << 12

// refute remembers the lock if a goroutine that may hold it, by
// its stack, does not: another one surely does. Such a place in
// the code proves nothing, so nobody is named as the likely
// holder of this lock any more.
func (h *holders) refute(c *contention) {
	for _, key := range c.doubtful {
		if s := h.sample.Sighting(key); c.takenFrom(&s) && !slices.Contains(h.set, s.ID) {
			h.rememberRefuted(c.wish)
			return
		}
	}
}

func (h *holders) rememberRefuted(w wish) {
	if len(h.refuted) >= maxRemembered {
		clear(h.refuted)
	}
	h.refuted[w] = true
}

// refuteFree does the same for locks that were free in the halt,
// whether or not goroutines wait for them.
func (h *holders) refuteFree() {
	if !h.halt.Consistent || len(h.reads.locks) == 0 {
		return
	}
	for _, key := range h.holding {
		s := h.sample.Sighting(key)
		if !s.InHalt {
			continue
		}
		for _, l := range h.holds(key) {
			raw := at(h.reads.locks, l.Lock)
			if l.Certainty == syncflow.Doubtful && l.Mode == syncflow.Write &&
				len(raw) >= goruntime.MutexSize &&
				raw[0]&(goruntime.MutexLocked|goruntime.MutexStarving) == 0 {
				h.rememberRefuted(wish{l.Lock, l.Mode})
			}
		}
	}
}

// takenFrom reports whether the lock was taken at a moment at
// which a goroutine did not move.
func (c *contention) takenFrom(s *Sighting) bool {
	if c.mode == syncflow.Read {
		return s.InHalt || s.Stood
	}
	taken := func(raw []byte) bool {
		return len(raw) >= goruntime.MutexSize && raw[0]&goruntime.MutexLocked != 0
	}
	if c.inHalt != nil {
		return (s.InHalt || s.Stood) && taken(c.inHalt)
	}
	return s.Stood && taken(c.after)
}

// onlyThese reports whether it is excluded that other goroutines
// hold a lock than those that may, by their stacks.
func (h *holders) onlyThese(c *contention) bool {
	if c.possible || h.refuted[c.wish] || len(h.records) > maxSurveyed || !h.halt.Consistent ||
		h.changesHands(c) {
		return false
	}
	for _, key := range h.unclear {
		if !slices.Contains(c.waiters, key) && !slices.Contains(c.doubtful, key) {
			return false
		}
	}
	if h.unknown == notKnown {
		h.unknown = h.surveyUnknown()
	}
	return h.unknown == no
}

// changesHands reports whether a goroutine that waited for the
// lock may have stopped to do so before the halt, and have the
// lock.
func (h *holders) changesHands(c *contention) bool {
	return !h.halt.Whole && slices.ContainsFunc(c.waiters, func(key int32) bool {
		s := h.sample.Sighting(key)
		return !s.InHalt && !s.Stood
	})
}

// surveyUnknown finds out whether there are goroutines that may hold locks
// nobody knows of.
func (h *holders) surveyUnknown() known {
	for key := range h.records {
		held := &h.records[key].held
		s := h.sample.Sighting(int32(key))
		if s.Hidden || s.Exists && !(held.complete && !held.partial && h.current(&s, held.sample)) {
			return yes
		}
	}
	return no
}
