package holders

import (
	"slices"

	"github.com/cpprof/cpprof/sampler/target/goruntime"
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

// caseOf returns the channel that a goroutine waits for with a
// sudog, the runtime's record of a wait. It also returns whether
// the goroutine may wait for a value, and the sudog of the next
// case of a select.
func (k *shared) caseOf(b []byte, inSelect bool) (channel uint64, valued bool, next uint64) {
	l := &k.sudog
	channel = memory.Word(b, l.CAddr.Or(l.C))
	if !inSelect {
		return channel, true, 0
	}
	return channel, memory.Word(b, l.ElemAddr.Or(l.Elem)) != 0, memory.Word(b, l.WaitLink)
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
		sudogBuf: make([]byte, maxSudogs*int(k.sudog.Size))}
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
	size := int(r.shared.sudog.Size)
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
// handed the lock that it waited for with a sudog. The ticket is
// 0 or random while the goroutine is queued.
func (r *reads) handedTo(s *Sighting, sudog uint64) bool {
	l, raw := &r.shared.sudog, at(r.sudogs, sudog)
	return memory.Word(raw, l.G) == s.Addr && memory.Half(raw, l.Ticket) == 1
}

// at returns what was read at an address; nil if nothing was.
func at(ranges []memory.Range, addr uint64) []byte {
	if i := slices.IndexFunc(ranges, func(r memory.Range) bool { return r.Addr == addr }); i >= 0 {
		return ranges[i].Buf
	}
	return nil
}
