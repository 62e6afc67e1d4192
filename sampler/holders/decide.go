package holders

import (
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// Who holds a lock, among the goroutines whose stacks show that
// they have taken it?
//
// Stacks are seen at different times: some before the halt,
// others in it. A candidate counts only if there was a moment at
// which it held the lock while the waiter waited for it. That is
// so if both were seen in the halt, or both before it. It is
// also so if one was seen in the halt, and the other was seen
// before the halt and found at the same place after it: then
// that one was there during the halt, too. Example, with time
// from left to right:
//
//	              before the halt    halt    after it
//	waiter 4      seen                       still there    \  both at the halt: 5 holds the lock
//	candidate 5                      seen                   /
//	waiter 7      seen                       has moved      7 may have got the lock before the halt: no holder is named
//
// If the lock was free when it was read, a candidate that did
// not move while it was read does not hold it: its stack was
// misinterpreted.

// maxCandidates is how many goroutines at most are named if it
// is not clear which of them holds a lock.
const maxCandidates = 32

// A verdict is what is known about who holds a lock.
type verdict struct {
	evidence sampledata.Evidence
	holders  sampledata.HolderSetID
}

// attribute reports the holders of a lock for all goroutines
// that wait for it. The verdict depends only on when the waiter
// was seen, so there are at most four.
func (h *holders) attribute(c *contention) {
	var verdicts [4]*verdict
	for _, key := range c.waiters {
		s := h.sample.Sighting(key)
		var v verdict
		if s.Still && (!c.open() || h.free(c)) {
			seen := 0
			if s.InHalt {
				seen++
			}
			if s.Stood {
				seen += 2
			}
			if verdicts[seen] == nil {
				now := h.decide(c, &s)
				verdicts[seen] = &now
			}
			v = *verdicts[seen]
		}
		h.sample.Update(key, c.lock, v.evidence, v.holders)
	}
}

// decide chooses the holders among the candidates for a lock
// that a goroutine waits for.
func (h *holders) decide(c *contention, waiter *Sighting) verdict {
	v := h.among(c, waiter)
	if v.evidence == sampledata.NoEvidence && c.onlyItself() {
		h.set = append(h.set[:0], h.sample.Sighting(c.itself[0]).ID)
		return h.verdict(sampledata.Ambiguous)
	}
	return v
}

// among does so among those that don't wait for it themselves.
func (h *holders) among(c *contention, waiter *Sighting) verdict {
	h.choose(c, waiter)
	switch {
	case c.mode == syncflow.Read && len(h.set) == c.readers(),
		c.mode == syncflow.Write && len(h.set) == 1:
		h.refute(c)
		return h.verdict(sampledata.Inferred)
	case c.mode == syncflow.Read && len(h.set) < c.readers():
		return h.likely(c, waiter)
	case len(h.set) > 0:
		return h.verdict(sampledata.Ambiguous)
	}
	switch handedOver := h.chooseSuccessors(c, waiter); {
	case handedOver:
		return h.verdict(sampledata.Inferred)
	case h.free(c) && (waiter.InHalt || waiter.Stood):
		return h.verdict(sampledata.Free)
	case len(h.set) > 0:
		return h.verdict(sampledata.Ambiguous)
	}
	return h.likely(c, waiter)
}

// onlyItself reports whether just one goroutine may hold the lock, as
// far as is known, and waits for it.
func (c *contention) onlyItself() bool {
	return len(c.itself) == 1 && len(c.candidates)+len(c.doubtful) == 0 && !c.possible
}

// choose puts those candidates that seem to hold the lock into
// the set. A candidate that has moved since it was seen is
// chosen only if there is no other.
func (h *holders) choose(c *contention, waiter *Sighting) {
	h.set = h.set[:0]
	for _, hasMoved := range []bool{false, true} {
		for _, key := range c.candidates {
			s := h.sample.Sighting(key)
			if moved := !s.InHalt && !s.Stood; moved == hasMoved && together(&s, waiter) &&
				!c.contradicts(&s) {
				h.set = append(h.set, s.ID)
			}
		}
		if len(h.set) > 0 {
			return
		}
	}
}

// free reports whether nobody held a lock at the halt, and
// nobody had been handed it.
func (h *holders) free(c *contention) bool {
	return c.mode == syncflow.Write && h.halt.Consistent && len(c.inHalt) >= goruntime.MutexSize &&
		c.inHalt[0]&(goruntime.MutexLocked|goruntime.MutexStarving) == 0
}

// verdict reports the goroutines in the set with the evidence.
// If it is Ambiguous, they are candidates; if it is Free, they
// were woken to take the lock.
func (h *holders) verdict(e sampledata.Evidence) verdict {
	set := h.set
	v := verdict{evidence: e}
	switch {
	case len(set) == 0 && e == sampledata.Free:
		return v
	case len(set) == 0:
		return verdict{}
	case !e.Blames() && len(set) > maxCandidates:
		set = set[:maxCandidates]
	}
	slices.Sort(set)
	v.holders = h.sample.HolderSet(set)
	return v
}

// together reports whether there was a moment at which both
// goroutines were where they were seen.
func together(holder, waiter *Sighting) bool {
	switch {
	case holder.InHalt && !waiter.InHalt:
		return waiter.Stood
	case waiter.InHalt && !holder.InHalt:
		return holder.Stood
	}
	return true
}

// contradicts reports whether the lock was free at a moment at
// which its seeming holder did not move.
func (c *contention) contradicts(holder *Sighting) bool {
	free := func(raw []byte) bool {
		return len(raw) >= goruntime.MutexSize && raw[0]&goruntime.MutexLocked == 0
	}
	return c.mode == syncflow.Write &&
		(holder.Stood && free(c.after) || (holder.Stood || holder.InHalt) && free(c.inHalt))
}

// readers returns the number of readers that a writer waits for;
// -1 if it could not be read.
func (c *contention) readers() int {
	raw := c.inHalt
	if len(raw) < goruntime.RWMutexSize {
		raw = c.after
	}
	if len(raw) < goruntime.RWMutexSize {
		return -1
	}
	return int(int32(binary.LittleEndian.Uint32(raw[goruntime.RWMutexReaderWait:])))
}
