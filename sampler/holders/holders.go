package holders

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

const (
	// idleSamples is the number of samples without a goroutine
	// that waits for a lock after which stacks are no longer
	// asked about locks.
	idleSamples = 100
	// maxRechecked is how many goroutines at most are read again
	// after the halt, in one sample.
	maxRechecked = 1024
)

// A contention is a lock that goroutines wait for, with the
// goroutines that they may wait for. Example: goroutines 4 and 7
// wait for a sync.Mutex. By the frames of 5, it has locked the
// mutex; 6 has just been woken in Mutex.Lock. Then 4 and 7 are
// the waiters, 5 is a candidate, and 6 is a successor.
type contention struct {
	wish
	waiters    []int32
	candidates []int32 // goroutines that have taken the lock, by their stacks
	doubtful   []int32 // goroutines that may have taken it, by their stacks
	// more goroutines may have taken it, though there is less
	// reason to believe that
	possible   bool
	itself     []int32 // waiters that seem to hold it
	successors []int32 // goroutines that were woken to take it and no longer waited in the halt
	after      []byte  // the lock as it was read after the halt
	inHalt     []byte  // the lock as it was read in the halt; nil if it was not read
}

// open reports whether no possible holder is known.
func (c *contention) open() bool {
	return len(c.candidates)+len(c.successors)+len(c.doubtful)+len(c.itself) == 0
}

// holders finds out who holds the locks that goroutines wait for.
type holders struct {
	*shared
	reads *reads
	// stacks are asked about locks, since some goroutine waits
	// for one, or did lately
	active  bool
	last    uint32  // number of the last sample in which one did
	waiting []int32 // goroutines that wait for locks, and some that no longer do
	holding []int32 // goroutines that hold locks or may hold some, and some that no longer do
	// locks that goroutines did not hold at places in the code
	// at which they may be held
	refuted map[wish]bool

	// released has the last sample in which a goroutine waited
	// for a lock that no longer did in the next one.
	released map[wish]uint32

	// For the current sample.
	halt      Halt
	contended []contention
	unclear   []int32      // goroutines that may hold locks of unknown addresses
	unknown   known        // whether it is not known what some goroutines hold
	index     map[wish]int // in contended
	ranges    []memory.Range
	recheck   []int32 // goroutines to read again
	buf       []byte
	set       []sampledata.GoroutineID
}

// activate makes the stacks that are seen from now on be asked
// about locks.
func (h *holders) activate() {
	h.active, h.last = true, h.number
	h.code.grant(firstLearning)
}

// find finds the holders of the locks that goroutines wait for.
func (h *holders) find(halt Halt) {
	h.halt = halt
	h.waiting = slices.DeleteFunc(h.waiting, func(key int32) bool {
		s := h.sample.Sighting(key)
		r := &h.records[key]
		if r.waiting = s.Exists && s.Run == sampledata.Blocked; !r.waiting {
			h.released[r.wish] = h.last
		}
		return !r.waiting
	})
	h.refuteFree()
	if len(h.waiting) == 0 {
		h.active = h.active && h.number-h.last <= idleSamples
		h.contended = h.contended[:0]
		return
	}
	if len(h.released) > maxRemembered {
		clear(h.released)
	}
	if h.last = h.number; !h.active {
		h.activate()
		return // a goroutine came to wait after the stacks were seen
	}
	h.gather()
	h.addCandidates()
	h.addSuccessors()
	h.confirm()
	for i := range h.contended {
		h.attribute(&h.contended[i])
	}
}

// gather lists the locks that goroutines wait for.
func (h *holders) gather() {
	clear(h.index)
	h.contended = h.contended[:0]
	for _, key := range h.waiting {
		w := h.records[key].wish
		k, ok := h.index[w]
		if !ok {
			k = len(h.contended)
			h.index[w] = k
			h.contended = append(h.contended,
				contention{wish: w, inHalt: at(h.reads.locks, w.lock)})
		}
		h.contended[k].waiters = append(h.contended[k].waiters, key)
	}
}

// addCandidates adds the goroutines that seem to hold them to these locks.
func (h *holders) addCandidates() {
	// A writer that waits for readers keeps other writers and
	// new readers waiting: it has RWMutex's own Mutex.
	for _, key := range h.waiting {
		if w := h.records[key].wish; w.mode == syncflow.Read {
			h.addCandidate(key, syncflow.Held{Lock: w.lock})
		}
	}
	h.unclear, h.unknown = h.unclear[:0], notKnown
	h.holding = slices.DeleteFunc(h.holding, func(key int32) bool {
		held := &h.records[key].held
		held.listed = len(held.list) > 0
		return !held.listed
	})
	for _, key := range h.holding {
		r := &h.records[key]
		for _, l := range h.holds(key) {
			if l.Lock == 0 {
				h.unclear = append(h.unclear, key)
				l.Lock, l.Certainty = r.waited.latest(h.sample.Sighting(key).Wait.Goroutine),
					syncflow.Doubtful
			}
			switch {
			case h.waitsForItself(key, &l):
				h.addItself(key, &l)
			case !h.isLocking(key, &l):
				h.addCandidate(key, l)
			}
		}
	}
}

// waitsForItself reports whether a goroutine waits for the same
// lock. It holds the lock only if that is sure: a reader may have
// another read lock from before.
func (h *holders) waitsForItself(key int32, l *syncflow.Held) bool {
	r := &h.records[key]
	return r.waiting && r.wish.lock == l.Lock &&
		(l.Certainty != syncflow.Sure || r.wish.mode == l.Mode)
}

// addItself notes a goroutine that waits for a lock which it seems
// to hold: a callee takes the lock, and will release it itself. What
// has been called in between may have released the lock, unseen.
func (h *holders) addItself(key int32, l *syncflow.Held) {
	if l.Certainty == syncflow.Sure && l.Again {
		c := &h.contended[h.index[h.records[key].wish]]
		c.itself = append(c.itself, key)
	}
}

// isLocking reports whether a goroutine is in Lock for the same
// lock: it was woken, and has not taken the lock yet. That
// Unlock may have handed it the lock is found out by other
// means.
func (h *holders) isLocking(key int32, l *syncflow.Held) bool {
	s := h.sample.Sighting(key)
	return l.Certainty != syncflow.Sure && l.Mode == syncflow.Write &&
		s.ParkedBy.Text == goruntime.MutexLock && h.lockOf(key, &s) == l.Lock
}

// addCandidate adds a goroutine to the candidates of a lock that
// it holds or may hold, if some goroutine waits for the lock.
func (h *holders) addCandidate(key int32, l syncflow.Held) {
	k, ok := h.index[wish{l.Lock, l.Mode}]
	if !ok {
		return
	}
	c := &h.contended[k]
	switch {
	case l.Certainty == syncflow.Possible:
		c.possible = true
	case l.Certainty == syncflow.Doubtful:
		if !slices.Contains(c.doubtful, key) {
			c.doubtful = append(c.doubtful, key)
		}
	case !slices.Contains(c.candidates, key):
		c.candidates = append(c.candidates, key)
	}
}

// confirm reads the locks again, and then finds out which of the
// goroutines concerned are still where they were seen. One that
// is has not moved in between, and so had not moved when the
// lock was read.
func (h *holders) confirm() {
	h.recheck = h.recheck[:0]
	locks := 0
	for i := range h.contended {
		if c := &h.contended[i]; !c.open() {
			locks++
			h.addRechecks(c)
		}
	}
	h.recheck = h.recheck[:min(len(h.recheck), maxRechecked)]
	if n := locks * goruntime.RWMutexSize; len(h.buf) < n {
		h.buf = make([]byte, 2*n)
	}
	h.ranges = h.ranges[:0]
	for i := range h.contended {
		if c := &h.contended[i]; !c.open() {
			h.ranges = append(h.ranges,
				memory.Range{Addr: c.lock,
					Buf: h.buf[len(h.ranges)*goruntime.RWMutexSize:][:goruntime.RWMutexSize]})
		}
	}
	h.sample.Recheck(h.ranges, h.recheck)
	read := h.ranges
	for i := range h.contended {
		if c := &h.contended[i]; !c.open() {
			c.after, read = read[0].Buf, read[1:]
		}
	}
}

// addRechecks lists the goroutines that must be read again to
// know who holds a lock: those that may, and, if some of these
// were seen in the halt or it is not sure that they do, the
// waiters that were not.
func (h *holders) addRechecks(c *contention) {
	inHalt := len(c.successors)+len(c.doubtful) > 0
	for _, list := range [][]int32{c.candidates, c.doubtful} {
		for _, key := range list {
			h.recheck = append(h.recheck, key)
			inHalt = inHalt || h.sample.Sighting(key).InHalt
		}
	}
	if !inHalt {
		return
	}
	for _, key := range c.waiters {
		if s := h.sample.Sighting(key); !s.Stood && !s.InHalt {
			h.recheck = append(h.recheck, key)
		}
	}
}
