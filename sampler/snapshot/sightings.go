//go:build linux && (amd64 || arm64)

package snapshot

import (
	"strings"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/halt"
	"github.com/cpprof/cpprof/sampler/holders"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// sightings presents the current sample to package blame. A goroutine's key
// there is the index of its slot.
type sightings struct {
	*goroutines
	reader *halt.Reader
	arena  *memory.Arena
	names  *lockNames
	ranges []memory.Range
}

var _ holders.Sample = (*sightings)(nil)

func (v *sightings) Sighting(key int32) holders.Sighting {
	s, now := &v.table.slots[key], v.account.number
	return holders.Sighting{
		ID: s.id, Exists: s.announced, Hidden: !s.announced && s.view != absent,
		Still: s.view == known, InHalt: s.halted == now, Stood: s.stood == now, Addr: s.addr,
		Wait:     holders.Wait{Goroutine: s.head.goid, Count: s.head.seq},
		ParkedBy: v.t.reasons.At(s.head.reason), Run: s.state.Run,
	}
}

// Recheck reads everything with one call of the reader, which
// keeps that order.
func (v *sightings) Recheck(ranges []memory.Range, keys []int32) {
	v.ranges = append(v.ranges[:0], ranges...)
	for _, i := range keys {
		v.ranges = append(v.ranges,
			memory.Range{Addr: v.table.slots[i].addr, Buf: v.arena.Get(v.t.g.size)})
	}
	v.reader.ReadRanges(v.ranges)
	copy(ranges, v.ranges)
	for k, r := range v.ranges[len(ranges):] {
		s := &v.table.slots[keys[k]]
		s.stood = 0
		if len(r.Buf) == v.t.g.size && v.t.g.unchanged(r.Buf, &s.head) && s.head.still() {
			s.stood = v.account.number
		}
	}
}

func (v *sightings) HolderSet(ids []sampledata.GoroutineID) sampledata.HolderSetID {
	return v.stacks.sink.HolderSet(ids)
}

func (v *sightings) SetReason(key int32, reason string) {
	s := &v.table.slots[key]
	now := s.state
	now.Reason = reason
	v.setState(s, now, false)
}

func (v *sightings) Update(key int32, lock uint64, e sampledata.Evidence,
	holders sampledata.HolderSetID) {
	s := &v.table.slots[key]
	now := s.state
	now.Lock, now.Evidence, now.Holders = lock, e, holders
	if now == s.state {
		return
	}
	v.setState(s, now, false)
	if now.Reason == "chan send" || strings.HasPrefix(now.Reason, goruntime.Select) {
		v.names.askChannel(s, lock)
	}
}
