//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// Limits on what the survey copies.
const (
	maxStack   = 1 << 20 // bytes of one stack; the outermost frames beyond that are not read
	maxBatch   = 4 << 20 // bytes of the stacks that are read at once
	maxInBatch = 512     // number of goroutines that are read at once
	tries      = 3       // attempts to read a stack that moves
	spotChecks = 4       // number of stacks that are read although they could be reused
)

// copyStacks reads and unwinds the stacks of the slots in fresh.
// It leaves goroutines that move in the meantime to the halt. If
// the recording is over before the stacks are read, the rest
// stay unread in the first sample, and others are given up.
func (v *survey) copyStacks(ctx context.Context) error {
	for try := 0; len(v.fresh) > 0; try++ {
		v.unsettled = v.unsettled[:0]
		for rest := v.fresh; len(rest) > 0; {
			if v.sampled && ctx.Err() != nil {
				return ctx.Err()
			}
			if v.isOver(ctx, v.headers) {
				v.leaveUnread(rest)
				break
			}
			n := v.copyBatch(rest, try)
			rest = rest[n:]
		}
		v.fresh = append(v.fresh[:0], v.unsettled...)
	}
	return nil
}

// leaveUnread uses the heads of goroutines whose stacks there is
// no time to read.
func (v *survey) leaveUnread(slots []int32) {
	for _, i := range slots {
		s := &v.table.slots[i]
		h := v.t.g.decode(s.raw)
		v.setHead(s, &h)
		s.view, s.stack = unread, stack{node: sampledata.NoStack, torn: true}
	}
	v.moved = v.moved[:0] // the halt would read their stacks
	v.unread += int64(len(slots))
}

// copyBatch reads some of the stacks and returns how many. The
// target runs meanwhile. So a copy is valid only if the
// goroutine has not moved between the reads of its g before and
// after the copy:
//
//	g as scanned → copy of the stack → g again: same goid, status, count of runs, stack pointer and program counter?
func (v *survey) copyBatch(batch []int32, try int) (n int) {
	v.arena.Reset()
	v.ranges, v.heads, v.after = v.ranges[:0], v.heads[:0], v.after[:0]
	for size := 0; n < len(batch) && n < maxInBatch && size < maxBatch; n++ {
		s := &v.table.slots[batch[n]]
		h := v.t.g.decode(s.raw)
		v.heads = append(v.heads, h)
		r := stackRange(&h, h.sp(), v.arena)
		size += len(r.Buf)
		v.ranges = append(v.ranges, r)
		v.after = append(v.after, memory.Range{Addr: s.addr, Buf: s.raw})
	}
	v.reader.ReadRanges(v.ranges)
	v.reader.ReadRanges(v.after)
	for k, i := range batch[:n] {
		v.takeStack(i, &v.heads[k], v.ranges[k], try)
	}
	return n
}

// takeStack uses a stack that was copied between two reads of
// the goroutine's g. h is from the first.
func (v *survey) takeStack(i int32, h *head, r memory.Range, try int) {
	s := &v.table.slots[i]
	now := v.t.g.decode(s.raw)
	switch {
	case !now.exists():
		s.view = absent
	case h.sameStack(&now):
		v.setHead(s, &now)
		v.unwind(i, memory.Copy{r}, v.parkedContext(h), nil)
		s.view = known
		v.enlist(i, s)
	case now.still() && try < tries:
		v.unsettled = append(v.unsettled, i)
	default:
		v.leaveToHalt(i, s)
	}
}

// stackRange allocates room for a stack from sp on. It returns
// an empty range if sp is not in the stack.
func stackRange(h *head, sp uint64, a *memory.Arena) memory.Range {
	if !h.within(sp) {
		return memory.Range{}
	}
	return memory.Range{Addr: sp, Buf: a.Get(int(min(h.hi-sp, maxStack)))}
}

// spotCheck reads some stacks that were reused, and counts how
// many had changed. With the same system call, it reads other
// memory.
func (v *survey) spotCheck(also []memory.Range) {
	v.checked, v.after = v.checked[:0], v.after[:0]
	v.ranges = v.ranges[:0]
	for _, r := range also {
		v.ranges = append(v.ranges, memory.Range{Addr: r.Addr, Buf: r.Buf[:cap(r.Buf)]})
	}
	v.chooseChecked()
	v.reader.ReadRanges(v.ranges)
	copy(also, v.ranges)
	v.reader.ReadRanges(v.after)
	for k, i := range v.checked {
		if len(v.after[k].Buf) == v.t.g.size {
			v.compareStack(i, v.ranges[len(also)+k])
		}
	}
}

// chooseChecked chooses stacks that were reused.
func (v *survey) chooseChecked() {
	slots := v.table.slots
	if len(slots) == 0 || v.account.reused == 0 {
		return
	}
	for range spotChecks {
		i := int32(rand.IntN(len(slots)))
		s := &slots[i]
		if s.view != known || v.isChanged(i) || slices.Contains(v.checked, i) {
			continue
		}
		v.checked = append(v.checked, i)
		v.ranges = append(v.ranges, stackRange(&s.head, s.head.sp(), v.arena))
		s.raw = v.table.kept.Get(v.t.g.size)
		v.after = append(v.after, memory.Range{Addr: s.addr, Buf: s.raw})
	}
}

// compareStack compares a reused stack with what was read of it,
// unless the goroutine has just moved.
func (v *survey) compareStack(i int32, r memory.Range) {
	s := &v.table.slots[i]
	if !v.t.g.unchanged(s.raw, &s.head) {
		return
	}
	v.account.rechecked++
	if read := v.stacks.unwind(memory.Copy{r}, v.parkedContext(&s.head)); read != s.stack {
		v.account.wrong++
		s.stack = read
		v.show(i, memory.Copy{r}, nil)
		v.markChanged(i)
	}
}
