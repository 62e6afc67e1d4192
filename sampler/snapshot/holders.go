//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/halt"
	"github.com/cpprof/cpprof/sampler/internal/syncflow"
)

// maxLooked bounds the goroutines that are looked at once more after the halt, in one sample.
const maxLooked = 1024

// maxCandidates bounds the goroutines that are named where it can't be told which of them holds a lock.
const maxCandidates = 32

// A wish is what a goroutine wants that waits for a lock: that those who hold it in a mode give it back.
type wish struct {
	lock uint64
	mode syncflow.Mode
}

// A contention is a lock that goroutines wait for.
type contention struct {
	wish
	waiters    []int32 // slots
	candidates []int32 // slots of those that seem to hold it
	next       []int32 // slots of those that are taking it, and did not wait any more in the halt
	raw        []byte  // the lock, as it was read after the halt
	halted     []byte  // the lock, as it was read in the halt, where that was done
}

// open tells whether nobody is known that can hold the lock.
func (c *contention) open() bool { return len(c.candidates)+len(c.next) == 0 }

// A holders finds out who holds the locks that goroutines wait for.
type holders struct {
	analyzer *syncflow.Analyzer
	active   bool    // somebody waited for a lock not long ago
	last     uint32  // the sample in which somebody did
	waiting  []int32 // slots of goroutines that wait for locks, and some that did
	holding  []int32 // slots of goroutines that hold locks, and some that did

	// Of the sample at hand.
	contended []contention
	index     map[wish]int // in contended
	ranges    []halt.Range
	looked    []int32 // slots of the goroutines in ranges
	buf       []byte
	set       []sampledata.GoroutineID
	locks     expected
	tickets   expected // sudogs

	sudogs []uint64 // with which goroutines were seen to wait for locks, the latest last
}

// noteWaiting puts a goroutine on the list of those that wait for locks.
func (b *Backend) noteWaiting(i int32) {
	if s := &b.table.slots[i]; s.state.Run == sampledata.Blocked && !s.waits {
		s.waits = true
		b.holders.waiting = append(b.holders.waiting, i)
	}
}

// blame finds the holders of the locks that goroutines wait for, and puts them into their states.
func (b *Backend) blame() {
	h := &b.holders
	h.waiting = slices.DeleteFunc(h.waiting, func(i int32) bool {
		s := &b.table.slots[i]
		s.waits = s.told && s.state.Run == sampledata.Blocked
		return !s.waits
	})
	if len(h.waiting) == 0 {
		h.active = h.active && b.number-h.last <= idleSamples
		h.contended = h.contended[:0]
		return
	}
	if h.last = b.number; !h.active {
		b.activate()
		return // somebody came to wait since the stacks were read
	}
	b.contend()
	b.lookAgain()
	for i := range h.contended {
		b.judge(&h.contended[i])
	}
}

// wishOf says what a goroutine waits for.
func wishOf(st *sampledata.State) wish {
	w := wish{lock: st.Lock, mode: syncflow.Write}
	if goruntime.ReasonOf(st.Reason).Readers { // a writer, whose turn it is when the readers are gone
		w.mode = syncflow.Read
	}
	return w
}

// contend gathers the locks that goroutines wait for, and who seems to hold them.
func (b *Backend) contend() {
	h := &b.holders
	clear(h.index)
	h.contended = h.contended[:0]
	for _, i := range h.waiting {
		w := wishOf(&b.table.slots[i].state)
		k, ok := h.index[w]
		if !ok {
			k = len(h.contended)
			h.index[w] = k
			h.contended = append(h.contended, contention{wish: w, halted: h.locks.of(w.lock)})
		}
		h.contended[k].waiters = append(h.contended[k].waiters, i)
	}
	// A writer that waits for readers keeps other writers and new readers waiting: it has RWMutex's own Mutex.
	for _, i := range h.waiting {
		if w := wishOf(&b.table.slots[i].state); w.mode == syncflow.Read {
			b.propose(i, wish{w.lock, syncflow.Write})
		}
	}
	h.holding = slices.DeleteFunc(h.holding, func(i int32) bool {
		held := &b.table.slots[i].held
		held.listed = len(held.locks) > 0
		return !held.listed
	})
	for _, i := range h.holding {
		s := &b.table.slots[i]
		if !b.holdsNow(s) {
			continue
		}
		for _, l := range s.held.locks {
			if w := (wish{l.Lock, l.Mode}); !(s.waits && wishOf(&s.state) == w) {
				b.propose(i, w)
			}
		}
	}
	b.proposeNext()
}

// propose adds a goroutine to those that seem to hold a lock, if somebody waits for it.
func (b *Backend) propose(i int32, w wish) {
	h := &b.holders
	if k, ok := h.index[w]; ok && !slices.Contains(h.contended[k].candidates, i) {
		h.contended[k].candidates = append(h.contended[k].candidates, i)
	}
}

// lookAgain reads the locks that may be held, and then whether those concerned still are where they were seen: a
// goroutine that did not move in between stood there all the time.
func (b *Backend) lookAgain() {
	h := &b.holders
	h.looked = h.looked[:0]
	locks := 0
	for i := range h.contended {
		c := &h.contended[i]
		if c.open() {
			continue
		}
		locks++
		inHalt := len(c.next) > 0
		for _, k := range c.candidates {
			h.looked = append(h.looked, k)
			inHalt = inHalt || b.inHalt(k)
		}
		for _, k := range c.waiters {
			if s := &b.table.slots[k]; inHalt && s.stood != b.number && !b.inHalt(k) {
				h.looked = append(h.looked, k)
			}
		}
	}
	h.looked = h.looked[:min(len(h.looked), maxLooked)]
	size := b.t.g.size
	if n := locks*goruntime.RWMutexSize + len(h.looked)*size; len(h.buf) < n {
		h.buf = make([]byte, 2*n)
	}
	h.ranges = h.ranges[:0]
	buf := h.buf
	for i := range h.contended {
		if c := &h.contended[i]; !c.open() {
			h.ranges = append(h.ranges, halt.Range{Addr: c.lock, Buf: buf[:goruntime.RWMutexSize]})
			buf = buf[goruntime.RWMutexSize:]
		}
	}
	for _, k := range h.looked {
		h.ranges = append(h.ranges, halt.Range{Addr: b.table.slots[k].addr, Buf: buf[:size]})
		buf = buf[size:]
	}
	b.reader.ReadRanges(h.ranges)
	b.takeLooks(h.ranges)
}

// takeLooks takes over what lookAgain read.
func (b *Backend) takeLooks(ranges []halt.Range) {
	for i := range b.holders.contended {
		if c := &b.holders.contended[i]; !c.open() {
			c.raw, ranges = ranges[0].Buf, ranges[1:]
		}
	}
	for i, k := range b.holders.looked {
		s := &b.table.slots[k]
		if len(ranges[i].Buf) == b.t.g.size && b.t.g.unchanged(ranges[i].Buf, &s.head) && s.head.still() {
			s.stood = b.number
		}
	}
}

// inHalt tells whether a goroutine's state is that of the halt, and not of the part of the sample before.
func (b *Backend) inHalt(i int32) bool { return b.table.slots[i].halted == b.number }

// A verdict is what is known of who holds a lock.
type verdict struct {
	evidence sampledata.Evidence
	holders  sampledata.HolderSetID
}

// judge puts the holders of a lock into the states of those that wait for it. What waiters were seen when matters, and
// nothing else of them.
func (b *Backend) judge(c *contention) {
	var verdicts [4]*verdict
	for _, i := range c.waiters {
		s := &b.table.slots[i]
		var v verdict
		if s.view != moving && !c.open() {
			kind := 0
			if b.inHalt(i) {
				kind++
			}
			if s.stood == b.number {
				kind += 2
			}
			if verdicts[kind] == nil {
				w := b.weigh(c, s)
				verdicts[kind] = &w
			}
			v = *verdicts[kind]
		}
		if now := s.state; now.Evidence != v.evidence || now.Holders != v.holders {
			now.Evidence, now.Holders = v.evidence, v.holders
			b.setState(s, now)
		}
	}
}

// weigh decides between the candidates for a lock that a goroutine waits for.
func (b *Backend) weigh(c *contention, waiter *slot) verdict {
	h := &b.holders
	h.set = h.set[:0]
	for _, stale := range []bool{false, true} {
		for _, i := range c.candidates {
			s := &b.table.slots[i]
			moved := !b.inHalt(i) && s.stood != b.number
			if moved == stale && b.together(s, waiter) && !b.contradicted(c, s) {
				h.set = append(h.set, s.id)
			}
		}
		if len(h.set) > 0 {
			break // who has moved on since is less likely to hold it than who has not
		}
	}
	switch {
	case c.mode == syncflow.Read:
		return b.verdict(len(h.set) == c.readers())
	case len(h.set) == 0:
		return b.verdict(b.addNext(c, waiter))
	}
	return b.verdict(len(h.set) == 1)
}

// verdict blames those in the set, or calls them candidates.
func (b *Backend) verdict(sure bool) verdict {
	set := b.holders.set
	v := verdict{evidence: sampledata.Ambiguous}
	switch {
	case len(set) == 0:
		return verdict{}
	case sure:
		v.evidence = sampledata.Inferred
	case len(set) > maxCandidates:
		set = set[:maxCandidates]
	}
	slices.Sort(set)
	v.holders = b.stacks.sink.HolderSet(set)
	return v
}

// together tells whether the one goroutine was seen to hold a lock while the other one waited for it.
func (b *Backend) together(holder, waiter *slot) bool {
	switch h, w := holder.halted == b.number, waiter.halted == b.number; {
	case h && !w:
		return waiter.stood == b.number
	case w && !h:
		return holder.stood == b.number
	}
	return true
}

// contradicted tells whether a lock is free while the goroutine stands still that seems to hold it.
func (b *Backend) contradicted(c *contention, holder *slot) bool {
	free := func(raw []byte) bool { return len(raw) >= goruntime.MutexSize && raw[0]&goruntime.MutexLocked == 0 }
	stood := holder.stood == b.number
	return c.mode == syncflow.Write && (stood && free(c.raw) || (stood || holder.halted == b.number) && free(c.halted))
}

// readers is the number of readers that a writer waits for.
func (c *contention) readers() int {
	raw := c.halted
	if len(raw) < goruntime.RWMutexSize {
		raw = c.raw
	}
	if len(raw) < goruntime.RWMutexSize {
		return -1
	}
	return int(int32(binary.LittleEndian.Uint32(raw[goruntime.RWMutexReaderWait:])))
}

// setState changes what the sample says of a goroutine.
func (b *Backend) setState(s *slot, now sampledata.State) {
	s.state = now
	if k := int(s.change); k < len(b.changes) && b.changes[k].Goroutine == s.id && !b.changes[k].Gone {
		b.changes[k].State = now
		return
	}
	s.change = int32(len(b.changes))
	b.changes = append(b.changes, sampledata.Change{Goroutine: s.id, State: now})
}
