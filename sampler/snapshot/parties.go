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

// Bounds of what is found out about waits that are not for locks, in one sample.
const (
	maxChannels = 64   // goroutines that came to wait for a channel
	maxGrouped  = 1024 // goroutines that wait for groups and conditions
	maxUsers    = 4096 // goroutines that may be whom they wait for
	fewUsers    = 256  // of groups and conditions, that are looked at in each sample; more are less often
	maxParties  = 8    // that are named to one that waits; of more, none
	rarely      = 64   // samples between looks at more than maxUsers
	maxUnknown  = 64   // stacks that are read again, since it was not known yet what their functions do
)

// A parties finds out whom goroutines may be waiting for that wait for a channel, a group or a condition: who stands in a
// function that does with it what they wait for. Nobody is blamed by that.
type parties struct {
	active  bool             // somebody waited so
	users   [numUsed][]int32 // slots of goroutines that use such things, and some that did
	grouped []int32          // slots of goroutines that wait for groups and conditions, and some that did
	index   map[syncflow.Action][]int32
	offers  map[syncflow.Action]sampledata.HolderSetID // to those that wait for a group or a condition
	asking  []int32                                    // slots of those that may have come to wait for another channel in this sample
	waiting []int32                                    // of these, those that have
	again   int                                        // stacks that are read again
	set     []sampledata.GoroutineID
}

// A usage is what is known of the channels, groups and conditions that a goroutine uses.
type usage struct {
	list    []syncflow.Action
	known   bool          // for the stack that is known
	sample  uint32        // in which it was found out
	listed  [numUsed]bool // in parties.users
	grouped bool          // in parties.grouped
}

// A used is a kind of things that goroutines use.
type used uint8

const (
	usedChannel used = iota
	usedGroup        // or a condition
	numUsed
)

// uses tells whether a goroutine uses things of a kind. To wait for one is no use to others.
func (u *usage) uses(kind used) bool {
	return slices.ContainsFunc(u.list, func(u syncflow.Action) bool {
		return !u.Awaited && (kind == usedGroup) == (u.Kind == syncflow.Done || u.Kind == syncflow.Signal)
	})
}

// findUses finds what the goroutine uses whose stack was unwound just now.
func (b *Backend) findUses(i int32, mem copied, registers []uint64) {
	s := &b.table.slots[i]
	u := &s.uses
	m := frameMemory{mem, b.t}
	u.list, u.known = b.holders.analyzer.Actions(u.list, b.stacks.frames, m, registers)
	deferred := true
	u.list, deferred = b.deferred(u.list, s, m)
	u.known = u.known && deferred
	u.sample = b.number
	for kind := range numUsed {
		if !u.listed[kind] && u.uses(kind) {
			u.listed[kind] = true
			b.parties.users[kind] = append(b.parties.users[kind], i)
		}
	}
}

// maxDeferred bounds the deferred functions of a goroutine that are looked at.
const maxDeferred = 16

// deferred adds the uses of the functions that a goroutine has on its list of deferred ones. Most functions' code runs what
// they deferred by itself; where it can't, as after a defer statement in a loop, there is the list.
func (b *Backend) deferred(dst []syncflow.Action, s *slot, m frameMemory) (uses []syncflow.Action, complete bool) {
	link := b.t.bin.Release.DeferLink()
	word := func(at uint64) uint64 {
		w, ok := m.Stack(at)
		if !ok {
			w, _ = m.Heap(at)
		}
		return w
	}
	complete = true
	at := binary.LittleEndian.Uint64(s.raw[b.t.g.M-goruntime.DeferBeforeM:])
	for n := 0; at != 0 && n < maxDeferred; n++ {
		if fn := word(at + goruntime.DeferFn); fn != 0 {
			var ok bool
			dst, ok = b.holders.analyzer.DeferredActions(dst, fn, m)
			complete = complete && ok
		}
		at = word(at + link)
	}
	return dst, complete
}

// noteWait says which channel, group or condition a goroutine waits for that doesn't wait for a lock.
func (b *Backend) noteWait(i int32, s *slot, st *sampledata.State) {
	switch goruntime.ReasonOf(st.Reason).Awaits {
	case goruntime.AwaitsChannel:
		b.noteChannel(i, s, st)
	case goruntime.AwaitsGroup:
		b.noteGrouped(i, s, st)
	}
}

// noteGrouped says which group or condition a goroutine waits for. Whom it may be waiting for is told anew again and again: who
// is left is what matters.
func (b *Backend) noteGrouped(i int32, s *slot, st *sampledata.State) {
	w, ok := s.uses.awaited()
	if !ok {
		return
	}
	st.Lock = w.Object
	if was := &s.state; was.Run == st.Run && was.Reason == st.Reason && was.Lock == st.Lock {
		st.Evidence, st.Holders = was.Evidence, was.Holders
	}
	if !s.uses.grouped && len(b.parties.grouped) < maxGrouped {
		s.uses.grouped = true
		b.parties.grouped = append(b.parties.grouped, i)
	}
}

// awaited gives what the goroutine waits for that stands in a method Wait, as it is for those who do it.
func (u *usage) awaited() (syncflow.Action, bool) {
	i := slices.IndexFunc(u.list, func(u syncflow.Action) bool { return u.Awaited })
	if i < 0 {
		return syncflow.Action{}, false
	}
	w := u.list[i]
	w.Awaited = false
	return w, true
}

// noteChannel puts a goroutine on the list of those that came to wait for a channel, unless it is known which.
func (b *Backend) noteChannel(i int32, s *slot, st *sampledata.State) {
	was := &s.state
	if was.Run == st.Run && was.Reason == st.Reason && was.Stack == st.Stack && was.Lock != 0 {
		st.Lock, st.Evidence, st.Holders = was.Lock, was.Evidence, was.Holders
		if s.lockSeq == s.head.seq && s.lockOf == s.head.goid {
			return
		}
	}
	if len(b.parties.asking) < maxChannels {
		b.parties.asking = append(b.parties.asking, i)
	}
}

// askChannels finds out for which channels those on the list wait. Who else uses one is told once, when a goroutine comes to
// wait for it.
func (b *Backend) askChannels() {
	l := &b.t.l.Sudog
	at := l.CAddr
	if !at.Has() {
		at = l.C
	}
	if l.Size <= 0 || l.Size > 1<<12 || !at.Has() || !b.t.g.Waiting.Has() {
		return
	}
	b.ranges, b.after = b.ranges[:0], b.after[:0]
	for _, i := range b.parties.asking {
		s := &b.table.slots[i]
		b.ranges = append(b.ranges, halt.Range{
			Addr: binary.LittleEndian.Uint64(s.raw[b.t.g.Waiting:]), Buf: b.arena.Get(int(l.Size)),
		})
		b.after = append(b.after, halt.Range{Addr: s.addr, Buf: b.arena.Get(b.t.g.size)})
	}
	b.reader.ReadRanges(b.ranges)
	b.reader.ReadRanges(b.after) // what has gone on meanwhile may wait elsewhere
	for k, i := range b.parties.asking {
		s, sudog, g := &b.table.slots[i], b.ranges[k].Buf, b.after[k].Buf
		channel := uint64(0)
		if len(sudog) == int(l.Size) && binary.LittleEndian.Uint64(sudog[l.G:]) == s.addr &&
			len(g) == b.t.g.size && b.t.g.unchanged(g, &s.head) {
			channel = binary.LittleEndian.Uint64(sudog[at:])
		}
		b.tellChannel(i, s, channel)
	}
}

// tellChannel says which channel a goroutine waits for; 0 for one that is not known.
func (b *Backend) tellChannel(i int32, s *slot, channel uint64) {
	if channel != 0 {
		s.lockSeq, s.lockOf, s.stood = s.head.seq, s.head.goid, b.number
	}
	if s.state.Lock == channel {
		return
	}
	now := s.state
	now.Lock, now.Evidence, now.Holders = channel, sampledata.NoEvidence, 0
	b.setState(s, now)
	if channel != 0 {
		b.parties.waiting = append(b.parties.waiting, i)
	}
}
