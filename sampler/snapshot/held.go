//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"
	"time"

	"github.com/cpprof/cpprof/sampler/internal/gobinary/unwind"
	"github.com/cpprof/cpprof/sampler/internal/goruntime"
	"github.com/cpprof/cpprof/sampler/internal/halt"
	"github.com/cpprof/cpprof/sampler/internal/syncflow"
)

// Work that learning what the program's functions do to locks, channels, groups and conditions may take (see
// syncflow.Refill): when goroutines are first seen to wait for locks, and for others of these; and for each millisecond
// from then on, whatever the rate of the samples. While goroutines wait for locks, that is about a tenth of a processor,
// else a hundredth.
const (
	firstLearning      = 100_000
	firstLearningOther = 20_000
	urgentLearning     = 100
	laterLearning      = 10
)

// learn lets the analyzer learn as much as the time since the last sample gives.
func (b *Backend) learn() {
	now := time.Now()
	since := min(now.Sub(b.learning.refilled), time.Second)
	b.learning.refilled = now
	b.learning.recent = b.holders.analyzer.Spent() != b.learning.spent
	b.learning.spent = b.holders.analyzer.Spent()
	work := laterLearning
	if len(b.holders.waiting) > 0 {
		work = urgentLearning
	}
	b.holders.analyzer.Refill(work * int(1+since.Milliseconds()))
}

// Learned is the time that learning took so far.
func (b *Backend) Learned() time.Duration { return b.learning.took }

// clocked does something of which a part may be learning, and adds its time to that if so. It is not looked at the clock
// while nothing new is met.
func (b *Backend) clocked(f func()) {
	spent := b.holders.analyzer.Spent()
	if !b.learning.recent {
		f()
		b.learning.recent = b.holders.analyzer.Spent() != spent
		return
	}
	begin := halt.ThreadTime()
	f()
	if b.holders.analyzer.Spent() != spent {
		b.learning.took += halt.ThreadTime() - begin
	}
}

// idleSamples is the number of samples without a goroutine that waits for a lock after which nothing is looked for.
const idleSamples = 100

// A holding is what is known of the locks that a goroutine holds.
type holding struct {
	locks  []syncflow.Held
	known  bool   // for the stack that is known
	sample uint32 // in which it was found out
	listed bool   // in holders.holding
}

// frameMemory is the copied stack of a goroutine, and for what pointers in it lead to, the running target.
type frameMemory struct {
	stack copied
	t     *target
}

func (m frameMemory) Stack(addr uint64) (uint64, bool) {
	base, b := m.stack.Segment(addr)
	if off := addr - base; uint64(len(b)) >= 8 && off <= uint64(len(b))-8 {
		return binary.LittleEndian.Uint64(b[off:]), true
	}
	return 0, false
}

func (m frameMemory) Heap(addr uint64) (uint64, bool) {
	w, err := m.t.word(addr)
	return w, err == nil
}

// noteHead looks out for goroutines that wait for locks, channels, groups or conditions, before any stack is read.
func (b *Backend) noteHead(h *head) {
	if b.holders.active && b.parties.active || h.status != goruntime.GWaiting || int(h.reason) >= len(b.t.reasons) {
		return
	}
	switch awaits := b.t.reasons[h.reason].Awaits; {
	case !b.holders.active && awaits == goruntime.AwaitsLock:
		b.activate()
	case !b.parties.active && (awaits == goruntime.AwaitsChannel || awaits == goruntime.AwaitsGroup):
		b.parties.active = true
		b.holders.analyzer.Refill(firstLearningOther)
	}
}

// activate makes the stacks that are unwound from now on tell of locks.
func (b *Backend) activate() {
	b.holders.active = true
	b.holders.last = b.number
	b.holders.analyzer.Refill(firstLearning)
}

// unwind finds the stack of a slot's goroutine in copied memory, and what it has to do with locks, channels, groups and
// conditions where that is of interest. Registers are those of the thread that it runs on, nil for none.
func (b *Backend) unwind(i int32, mem copied, c *unwind.Context, registers []uint64) {
	s := &b.table.slots[i]
	s.stack, _ = b.stacks.unwind(mem, c)
	s.unlearn()
	b.clocked(func() {
		if b.holders.active {
			b.findHeld(i, mem, registers)
		}
		b.noteSemaphore(s, mem)
		if b.parties.active {
			b.findUses(i, mem, registers)
		}
	})
}

// unlearn drops what is known of the locks that a slot's goroutine holds, of what it uses and of what it waits at: its
// stack is another one.
func (s *slot) unlearn() {
	s.held.known, s.held.locks = false, s.held.locks[:0]
	s.uses.known, s.uses.list = false, s.uses.list[:0]
	s.sema = semaphore{}
}

// findHeld finds the locks that the goroutine holds whose stack was unwound just now.
func (b *Backend) findHeld(i int32, mem copied, registers []uint64) {
	h := &b.table.slots[i].held
	h.locks, h.known = b.holders.analyzer.Held(h.locks, b.stacks.frames, frameMemory{mem, b.t}, registers)
	h.sample = b.number
	if len(h.locks) > 0 && !h.listed {
		h.listed = true
		b.holders.holding = append(b.holders.holding, i)
	}
}

// holdsNow tells whether what is known of the locks of a slot's goroutine is of this sample.
func (b *Backend) holdsNow(s *slot) bool {
	return s.told && s.view != absent && len(s.held.locks) > 0 && (s.view == known || s.held.sample == b.number)
}
