//go:build linux && (amd64 || arm64)

package snapshot

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/syncflow"
)

// offer names to goroutines that wait for channels, groups and conditions those that may end their waits.
func (b *Backend) offer() {
	p := &b.parties
	b.askChannels()
	b.offerTo(p.waiting, usedChannel, b.offerChannel)
	if every := 1 + uint32(len(p.users[usedGroup])/fewUsers); (b.number-1)%every != 0 {
		return
	}
	p.grouped = slices.DeleteFunc(p.grouped, func(i int32) bool {
		s := &b.table.slots[i]
		s.uses.grouped = s.told && s.state.Run == sampledata.Waiting && s.state.Lock != 0 &&
			goruntime.ReasonOf(s.state.Reason).Awaits == goruntime.AwaitsGroup
		return !s.uses.grouped
	})
	clear(p.offers)
	b.offerTo(p.grouped, usedGroup, b.offerGroup)
}

// offerTo does so for those that wait for things of a kind.
func (b *Backend) offerTo(waiting []int32, kind used, offer func(slot int32)) {
	if len(waiting) == 0 {
		return
	}
	if users := b.usersOf(kind); len(users) <= maxUsers {
		b.indexUsers(waiting, users)
		for _, i := range waiting {
			offer(i)
		}
	}
}

// usersOf gives the goroutines that use things of a kind. Of more than maxUsers it is only now and then looked at whether they
// still do.
func (b *Backend) usersOf(kind used) []int32 {
	if users := b.parties.users[kind]; len(users) > maxUsers && b.number%rarely != 0 {
		return users
	}
	users := slices.DeleteFunc(b.parties.users[kind], func(i int32) bool {
		u := &b.table.slots[i].uses
		u.listed[kind] = u.uses(kind)
		return !u.listed[kind]
	})
	b.parties.users[kind] = users
	return users
}

// indexUsers finds those of the users who do what somebody waits for.
func (b *Backend) indexUsers(waiting, users []int32) {
	index := b.parties.index
	clear(index)
	for _, i := range waiting {
		if w, ok := wanted(&b.table.slots[i]); ok {
			index[w] = nil
		}
	}
	for _, i := range users {
		s := &b.table.slots[i]
		if !s.told || s.view == absent || s.view != known && s.uses.sample != b.number {
			continue
		}
		for _, u := range s.uses.list {
			if found, ok := index[u]; ok {
				index[u] = append(found, i)
			}
		}
	}
}

// wanted gives what a goroutine waits for others to do.
func wanted(s *slot) (syncflow.Action, bool) {
	switch reason := goruntime.ReasonOf(s.state.Reason); {
	case reason.Awaits != goruntime.AwaitsChannel:
		return s.uses.awaited()
	case reason.Sends:
		return syncflow.Action{Object: s.state.Lock, Kind: syncflow.Receive}, true
	}
	return syncflow.Action{Object: s.state.Lock, Kind: syncflow.Send}, true
}

// offerChannel names to one goroutine whom it may be waiting for that waits for a channel.
func (b *Backend) offerChannel(i int32) {
	s := &b.table.slots[i]
	if !s.told || s.state.Run != sampledata.Waiting {
		return
	}
	w, _ := wanted(s)
	if holders := b.partiesFor(w, func(k int32) bool { return k != i }); holders != 0 {
		now := s.state
		now.Evidence, now.Holders = sampledata.Ambiguous, holders
		b.setState(s, now)
	}
}

// offerGroup does so for one that waits for a group or a condition. Who waits for the same has to be woken first.
func (b *Backend) offerGroup(i int32) {
	s := &b.table.slots[i]
	w, ok := wanted(s)
	if !ok {
		return
	}
	holders, ok := b.parties.offers[w]
	if !ok {
		holders = b.partiesFor(w, func(k int32) bool {
			other, waits := b.table.slots[k].uses.awaited()
			return !waits || other != w
		})
		b.parties.offers[w] = holders
	}
	now := s.state
	if now.Holders = holders; holders != 0 {
		now.Evidence = sampledata.Ambiguous
	} else {
		now.Evidence = sampledata.NoEvidence
	}
	if now != s.state {
		b.setState(s, now)
	}
}

// partiesFor gives the goroutines that do what is waited for and that count, 0 for none and for too many.
func (b *Backend) partiesFor(w syncflow.Action, counts func(slot int32) bool) sampledata.HolderSetID {
	set := b.parties.set[:0]
	for _, k := range b.parties.index[w] {
		if id := b.table.slots[k].id; counts(k) && !slices.Contains(set, id) {
			set = append(set, id)
		}
	}
	b.parties.set = set
	if len(set) == 0 || len(set) > maxParties {
		return 0
	}
	slices.Sort(set)
	return b.stacks.sink.HolderSet(set)
}
