//go:build linux && (amd64 || arm64)

package snapshot

// Places in sync.RWMutex, the same in Go 1.21 to 1.27. Its first field is a Mutex, with its state and its semaphore.
const (
	mutexSema  = 4
	writerSem  = 8
	readerSem  = 12
	readerWait = 20 // how many readers a writer waits for
	mutexSize  = 8
	lockSize   = 24
)

// mutexLock is the wait reason of those that wait for a sync.Mutex.
const mutexLock = "sync.Mutex.Lock"

// lockOf gives the address of the sync.Mutex or sync.RWMutex that a goroutine waits for, from that of the semaphore in
// it; 0 where it can't be found. Its name is asked for once, while the goroutine stays parked.
func (b *Backend) lockOf(s *slot, reason string) uint64 {
	lock := lockAt(s.semaphoreOf(), reason)
	if lock == 0 {
		return 0
	}
	if s.state.Lock != lock || s.lockSeq != s.head.seq || s.lockOf != s.head.goid {
		s.lockSeq, s.lockOf = s.head.seq, s.head.goid
		b.nameLock(s, lock)
	}
	return lock
}

// lockAt gives the address of the lock that has a semaphore, by the reason of those that wait at it; 0 for no lock.
func lockAt(sema uint64, reason string) uint64 {
	offset := uint64(mutexSema)
	switch reason {
	case mutexLock:
	case "sync.RWMutex.Lock":
		offset = writerSem
	case "sync.RWMutex.RLock":
		offset = readerSem
	default:
		return 0
	}
	return max(sema, offset) - offset
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
	if isLock(b.reason(&s.head)) {
		addr, sudog := b.holders.analyzer.Semaphore(b.stacks.frames, frameMemory{mem, b.t})
		s.sema = semaphore{addr, sudog, s.head.seq, s.head.goid, b.number}
		b.holders.noteSudog(sudog)
	}
}

// waitsForLock tells whether a goroutine was parked to wait for a lock.
func (b *Backend) waitsForLock(h *head) bool { return h.status == gWaiting && isLock(b.reason(h)) }

// reason gives what a goroutine was last parked for.
func (b *Backend) reason(h *head) string {
	if int(h.reason) >= len(b.t.reasons) {
		return ""
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
