//go:build linux && (amd64 || arm64)

package snapshot

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/internal/blame"
	"github.com/cpprof/cpprof/sampler/internal/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/internal/memory"
)

// A stackMemory is the copied stack of a goroutine and, for what pointers in it lead to, the running target.
type stackMemory struct {
	memory.Copy
	t *target
}

func (m *stackMemory) Stack(addr uint64) (uint64, bool) { return m.Word(addr) }

func (m *stackMemory) Heap(addr uint64) (uint64, bool) {
	w, err := m.t.word(addr)
	return w, err == nil
}

// unwind finds the stack of a slot's goroutine in copied memory, and shows it to the finder. Registers are those of the
// thread that it runs on, nil for none.
func (b *Backend) unwind(i int32, mem memory.Copy, c *unwind.Context, registers []uint64) {
	s := &b.table.slots[i]
	s.stack, _ = b.stacks.unwind(mem, c)
	b.see(i, mem, registers)
}

// see shows the finder the stack of a slot's goroutine that was unwound just now.
func (b *Backend) see(i int32, mem memory.Copy, registers []uint64) {
	b.memory.Copy = mem
	b.finder.Stack(i, &blame.Stack{
		Frames: b.stacks.frames, Memory: &b.memory, Registers: registers,
		Deferred: b.t.g.deferredOf(b.table.slots[i].raw),
	})
}

// A blameSample is the sample at hand, for the finder.
type blameSample struct{ *Backend }

func (b blameSample) Sighting(key int32) blame.Sighting {
	s := &b.table.slots[key]
	return blame.Sighting{
		ID: s.id, Exists: s.told, Still: s.view == known, InHalt: s.halted == b.number, Stood: s.stood == b.number,
		Addr: s.addr, Wait: blame.Wait{Goroutine: s.head.goid, Count: s.head.seq}, ParkedBy: b.t.reason(&s.head),
		Run: s.state.Run,
	}
}

func (b blameSample) Recheck(ranges []memory.Range, keys []int32) {
	size := b.t.g.size
	b.ranges = append(b.ranges[:0], ranges...)
	for _, i := range keys {
		b.ranges = append(b.ranges, memory.Range{Addr: b.table.slots[i].addr, Buf: b.arena.Get(size)})
	}
	b.reader.ReadRanges(b.ranges)
	copy(ranges, b.ranges)
	for k, r := range b.ranges[len(ranges):] {
		s := &b.table.slots[keys[k]]
		s.stood = 0
		if len(r.Buf) == size && b.t.g.unchanged(r.Buf, &s.head) && s.head.still() {
			s.stood = b.number
		}
	}
}

func (b blameSample) HolderSet(ids []sampledata.GoroutineID) sampledata.HolderSetID {
	return b.stacks.sink.HolderSet(ids)
}

func (b blameSample) Update(key int32, lock uint64, e sampledata.Evidence, holders sampledata.HolderSetID) {
	s := &b.table.slots[key]
	now := s.state
	now.Lock, now.Evidence, now.Holders = lock, e, holders
	if now != s.state {
		b.setState(s, now)
	}
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

// stillThere reports whether a goroutine is still where the sample saw it. The target runs meanwhile, and what was read since
// may be of something else.
func (b *Backend) stillThere(s *slot) bool {
	g := make([]byte, b.t.g.size)
	if b.t.Read(s.addr, g) != nil || !b.t.g.unchanged(g, &s.head) {
		return false
	}
	s.stood = b.number
	return true
}
