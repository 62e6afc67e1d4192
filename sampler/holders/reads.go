package holders

import (
	"encoding/binary"
	"slices"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// The holder of a lock can change within a microsecond. So the
// locks that goroutines wait for are read in the halt, at one
// moment, and some of their waiters and holders are seen there.
// All of that is bounded, so that the halt stays short.
const (
	maxAtHalt = 64  // goroutines that wait for locks, and as many again that hold some
	maxLocks  = 64  // locks
	maxSudogs = 128 // sudogs
	maxRecent = 24  // locks that nobody waits for at the moment
)

// A sudog has the offsets of the fields of a runtime.sudog, the
// runtime's record of a goroutine's wait.
type sudog struct {
	size       int           // 0 if the layout is not known
	g, channel layout.Offset // the waiting goroutine, and the channel it waits for
	// 1 after a lock was handed to the goroutine; 0 or random
	// while it is queued
	ticket layout.Offset
	// where the value comes from or goes to; the next case's sudog
	elem, waitLink layout.Offset
}

func newSudog(l *layout.Sudog) sudog {
	s := sudog{size: int(l.Size), g: l.G, channel: l.CAddr, ticket: l.Ticket, elem: l.ElemAddr,
		waitLink: l.WaitLink}
	if !s.channel.Has() {
		s.channel = l.C
	}
	if !s.elem.Has() {
		s.elem = l.Elem
	}
	if s.size < 0 || s.size > 1<<12 {
		s.size = 0
	}
	return s
}

// caseOf returns the channel that a goroutine waits for with a
// sudog, whether it may wait for a value, and the sudog of the
// next case of a select.
func (l *sudog) caseOf(b []byte, inSelect bool) (channel uint64, valued bool, next uint64) {
	if !inSelect {
		return memory.Word(b, l.channel), true, 0
	}
	return memory.Word(b, l.channel), memory.Word(b, l.elem) != 0, memory.Word(b, l.waitLink)
}

// reads are the reads about locks in one halt.
type reads struct {
	*shared
	waiting, holding []int32 // goroutines that the halt must see

	locks    []memory.Range
	sudogs   []memory.Range
	lockBuf  []byte
	sudogBuf []byte
	// addresses of sudogs of goroutines that were seen waiting for locks,
	// latest last
	seenWaits []uint64
	recent    []uint64 // addresses of locks that goroutines have waited for, latest last
}

func newReads(k *shared) reads {
	return reads{shared: k, lockBuf: make([]byte, maxLocks*goruntime.RWMutexSize),
		sudogBuf: make([]byte, maxSudogs*k.sudog.size)}
}

// begin starts a sample.
func (r *reads) begin() { r.waiting, r.holding = r.waiting[:0], r.holding[:0] }

// atHalt adds a goroutine that waits for a lock, or holds one,
// to the list of those that the halt must see. It reports
// whether it did.
func (r *reads) atHalt(key int32, waits, active bool) bool {
	switch {
	case waits && len(r.waiting) < maxAtHalt:
		r.waiting = append(r.waiting, key)
	case active && len(r.holding) < maxAtHalt && r.records[key].held.nameable():
		r.holding = append(r.holding, key)
	default:
		return false
	}
	return true
}

// expect lists the locks that the halt must read: those that
// goroutines waited for in the previous sample, those that they
// are known to wait for now, and those that they have waited for
// lately. Most waits are short: often the halt is the first to
// see that goroutines wait, and by then it is too late to read
// another lock.
func (r *reads) expect(contended []contention) {
	r.locks, r.sudogs = r.locks[:0], r.sudogs[:0]
	for i := range contended {
		r.expectLock(contended[i].lock)
		r.recent = noteLatest(r.recent, contended[i].lock, maxRecent)
	}
	for _, key := range r.waiting {
		s := r.sample.Sighting(key)
		r.expectLock(r.lockOf(key, &s))
	}
	for _, lock := range slices.Backward(r.recent) {
		r.expectLock(lock)
	}
}

func (r *reads) expectLock(lock uint64) {
	if n := len(r.locks); lock != 0 && n < maxLocks && at(r.locks, lock) == nil {
		r.locks = append(r.locks,
			memory.Range{Addr: lock,
				Buf: r.lockBuf[n*goruntime.RWMutexSize:][:goruntime.RWMutexSize]})
	}
}

// expectSudogs lists the sudogs that the halt must read, if one
// of the locks that it has read is being handed over.
func (r *reads) expectSudogs() []memory.Range {
	size := r.shared.sudog.size
	if size > 0 && slices.ContainsFunc(r.locks,
		func(l memory.Range) bool { return beingHandedOver(l.Buf) }) {
		for i, addr := range r.seenWaits {
			r.sudogs = append(r.sudogs, memory.Range{Addr: addr, Buf: r.sudogBuf[i*size:][:size]})
		}
	}
	return r.sudogs
}

// noteSudog remembers the address of a sudog for later halts.
// The runtime reuses a few of them all the time.
func (r *reads) noteSudog(addr uint64) { r.seenWaits = noteLatest(r.seenWaits, addr, maxSudogs) }

// noteLatest appends an address to a list. If the list is then
// too long, it drops the first one.
func noteLatest(list []uint64, addr uint64, most int) []uint64 {
	if addr == 0 {
		return list
	}
	if i := slices.Index(list, addr); i >= 0 {
		list = slices.Delete(list, i, i+1)
	} else if len(list) == most {
		list = slices.Delete(list, 0, 1)
	}
	return append(list, addr)
}

// handedTo reports whether a goroutine, at the halt, had been
// handed the lock that it waited for with a sudog.
func (r *reads) handedTo(s *Sighting, sudog uint64) bool {
	l, raw := &r.shared.sudog, at(r.sudogs, sudog)
	return l.ticket.Has() && len(raw) >= int(max(l.g+8, l.ticket+4)) &&
		binary.LittleEndian.Uint64(raw[l.g:]) == s.Addr &&
		binary.LittleEndian.Uint32(raw[l.ticket:]) == 1
}

// at returns what was read at an address; nil if nothing was.
func at(ranges []memory.Range, addr uint64) []byte {
	if i := slices.IndexFunc(ranges, func(r memory.Range) bool { return r.Addr == addr }); i >= 0 {
		return ranges[i].Buf
	}
	return nil
}
