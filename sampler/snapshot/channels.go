//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/lockholder"
)

// Bounds of what is found out about channels in one sample.
const (
	maxChannels = 64   // goroutines that came to wait for one
	maxUsers    = 4096 // goroutines that may be whom they wait for
	maxParties  = 8    // that are named to one that waits; of more, none
)

// Wait reasons of goroutines that wait for one channel.
const (
	waitsToSend    = "chan send"
	waitsToReceive = "chan receive"
)

// A channels finds out whom goroutines may be waiting for that wait for a channel: who stands in a function that does with
// it what they wait for. Nobody is blamed by that.
type channels struct {
	active  bool    // somebody waited for a channel
	users   []int32 // slots of goroutines that use channels, and some that did
	index   map[uint64][]int32
	waiting []int32 // slots of those that came to wait in this sample
	asked   int
	set     []sampledata.GoroutineID
}

// A usage is what is known of the channels that a goroutine uses.
type usage struct {
	channels []lockholder.Use
	sample   uint32 // in which it was found out
	listed   bool   // in channels.users
}

// findUses finds the channels that the goroutine uses whose stack was unwound just now.
func (b *Backend) findUses(i int32, mem copied) {
	u := &b.table.slots[i].uses
	u.channels, _ = b.holders.analyzer.Uses(u.channels, b.stacks.frames, frameMemory{mem, b.t})
	u.sample = b.number
	if len(u.channels) > 0 && !u.listed {
		u.listed = true
		b.channels.users = append(b.channels.users, i)
	}
}

// noteChannel says which channel a goroutine waits for. Who else uses it is told once, when it comes to wait.
func (b *Backend) noteChannel(i int32, s *slot, st *sampledata.State) {
	was := &s.state
	same := was.Run == st.Run && was.Reason == st.Reason && was.Stack == st.Stack && was.Lock != 0
	if same && (s.lockSeq == s.head.seq && s.lockOf == s.head.goid || b.channels.asked >= maxChannels) {
		st.Lock, st.Evidence, st.Holders = was.Lock, was.Evidence, was.Holders
		return
	}
	if b.channels.asked >= maxChannels {
		return
	}
	b.channels.asked++
	if st.Lock = b.channel(s); st.Lock == 0 {
		return
	}
	s.lockSeq, s.lockOf = s.head.seq, s.head.goid
	if same && was.Lock == st.Lock {
		st.Evidence, st.Holders = was.Evidence, was.Holders
		return
	}
	b.channels.waiting = append(b.channels.waiting, i)
}

// channel gives the address of the channel that a goroutine waits for, 0 where it can't be found.
func (b *Backend) channel(s *slot) uint64 {
	l := &b.t.l.Sudog
	at := l.CAddr
	if !at.Has() {
		at = l.C
	}
	if l.Size <= 0 || l.Size > 1<<12 || !at.Has() || !b.t.g.Waiting.Has() {
		return 0
	}
	sudog := make([]byte, l.Size)
	w := binary.LittleEndian.Uint64(s.raw[b.t.g.Waiting:])
	if w == 0 || b.t.Read(w, sudog) != nil || binary.LittleEndian.Uint64(sudog[l.G:]) != s.addr {
		return 0
	}
	return b.ifParked(s, binary.LittleEndian.Uint64(sudog[at:]))
}

// offer names to goroutines that came to wait for channels those that use them the other way.
func (b *Backend) offer() {
	c := &b.channels
	c.users = slices.DeleteFunc(c.users, func(i int32) bool {
		u := &b.table.slots[i].uses
		u.listed = len(u.channels) > 0
		return !u.listed
	})
	if len(c.waiting) == 0 || len(c.users) > maxUsers {
		return
	}
	clear(c.index)
	for _, i := range c.users {
		s := &b.table.slots[i]
		if !s.told || s.view == absent || s.view != known && s.uses.sample != b.number {
			continue
		}
		for _, u := range s.uses.channels {
			c.index[u.Channel] = append(c.index[u.Channel], i)
		}
	}
	for _, i := range c.waiting {
		b.offerTo(i)
	}
}

// offerTo names to one goroutine whom it may be waiting for.
func (b *Backend) offerTo(i int32) {
	s := &b.table.slots[i]
	if !s.told || s.state.Run != sampledata.Waiting {
		return
	}
	set := b.channels.set[:0]
	for _, k := range b.channels.index[s.state.Lock] {
		other := &b.table.slots[k]
		fits := func(u lockholder.Use) bool {
			return u.Channel == s.state.Lock && u.Sends == (s.state.Reason == waitsToReceive)
		}
		if k != i && slices.ContainsFunc(other.uses.channels, fits) && !slices.Contains(set, other.id) {
			set = append(set, other.id)
		}
	}
	b.channels.set = set
	if len(set) == 0 || len(set) > maxParties {
		return
	}
	slices.Sort(set)
	now := s.state
	now.Evidence, now.Holders = sampledata.Ambiguous, b.stacks.sink.HolderSet(set)
	b.setState(s, now)
}
