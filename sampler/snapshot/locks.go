//go:build linux && (amd64 || arm64)

package snapshot

import "github.com/cpprof/cpprof/sampler/internal/goruntime"

// lockOf gives the address of the sync.Mutex or sync.RWMutex that a goroutine waits for, from that of the semaphore in
// it; 0 where it can't be found. Its name is asked for once, while the goroutine stays parked.
func (b *Backend) lockOf(s *slot, reason goruntime.WaitReason) uint64 {
	lock := reason.LockAt(s.semaphoreOf())
	if lock == 0 {
		return 0
	}
	if s.state.Lock != lock || s.lockSeq != s.head.seq || s.lockOf != s.head.goid {
		s.lockSeq, s.lockOf = s.head.seq, s.head.goid
		b.nameLock(s, lock)
	}
	return lock
}

// A semaphore is what a goroutine waits at, by its stack.
type semaphore struct {
	addr   uint64
	sudog  uint64 // with which it waits
	seq    uint8  // head.seq and head.goid of the goroutine then
	goid   int64
	sample uint32 // in which it was found out
}

// noteSemaphore keeps what the goroutine waits at whose stack was unwound just now, or has waited at until it was woken.
// Waits for locks are short: after the halt many are over, and only the stack that was copied tells what they were for.
func (b *Backend) noteSemaphore(s *slot, mem copied) {
	if b.reason(&s.head).Awaits == goruntime.AwaitsLock {
		addr, sudog := b.holders.analyzer.Semaphore(b.stacks.frames, frameMemory{mem, b.t})
		s.sema = semaphore{addr, sudog, s.head.seq, s.head.goid, b.number}
		b.holders.noteSudog(sudog)
	}
}

// waitsForLock tells whether a goroutine was parked to wait for a lock.
func (b *Backend) waitsForLock(h *head) bool {
	return h.status == goruntime.GWaiting && b.reason(h).Awaits == goruntime.AwaitsLock
}

// reason gives what a goroutine was last parked for.
func (b *Backend) reason(h *head) goruntime.WaitReason {
	if int(h.reason) >= len(b.t.reasons) {
		return goruntime.WaitReason{}
	}
	return b.t.reasons[h.reason]
}

// semaphoreOf gives the address that a goroutine waits at, 0 where it is not known.
func (s *slot) semaphoreOf() uint64 {
	if s.sema.seq == s.head.seq && s.sema.goid == s.head.goid {
		return s.sema.addr
	}
	return 0
}

// ifParked gives the address that was read of a goroutine, if the goroutine is still where the sample saw it: the
// target runs meanwhile, and what else a goroutine waits for stands in the same place.
func (b *Backend) ifParked(s *slot, addr uint64) uint64 {
	g := make([]byte, b.t.g.size)
	if b.t.Read(s.addr, g) != nil || !b.t.g.unchanged(g, &s.head) {
		return 0
	}
	s.stood = b.number
	return addr
}
