//go:build linux && (amd64 || arm64)

package snapshot

import (
	"encoding/binary"

	"github.com/cpprof/cpprof/sampler/internal/halt"
)

// maxSudogs bounds the walk through all semaphores.
const maxSudogs = 1 << 14

// lockOf gives the address of the sync.Mutex or sync.RWMutex that a goroutine waits for, from that of the semaphore in
// it; 0 where it can't be found. It is looked for once, while the goroutine stays parked.
func (b *Backend) lockOf(s *slot, reason string) uint64 {
	if s.state.Run != 0 && s.state.Reason == reason && s.state.Lock != 0 && s.lockSeq == s.head.seq && s.lockOf == s.head.goid {
		return s.state.Lock
	}
	var offset uint64
	switch reason {
	case "sync.Mutex.Lock":
		offset = 4 // Mutex.sema
	case "sync.RWMutex.Lock":
		offset = 8 // RWMutex.writerSem
	case "sync.RWMutex.RLock":
		offset = 12 // RWMutex.readerSem
	default:
		return 0
	}
	sema := b.semaphoreOf(s)
	if sema < offset {
		return 0
	}
	s.lockSeq, s.lockOf = s.head.seq, s.head.goid
	b.nameLock(s, sema-offset)
	return sema - offset
}

// A semaphore is what a goroutine waits at, as it was read together with its stack.
type semaphore struct {
	addr uint64
	seq  uint8 // head.seq and head.goid of the goroutine then
	goid int64
}

// sudogOf says where what a goroutine waits with lies, for one that waits for a lock. From Go 1.26 on it knows that. Waits for
// locks are short: after the halt many are over, and nothing tells any more what they were for.
func (b *Backend) sudogOf(raw []byte, h *head, a *halt.Arena) halt.Range {
	at, size := b.t.g.Waiting, int(b.t.l.Sudog.Size)
	if !b.waitsForLock(h) || !b.hasSudogs() {
		return halt.Range{}
	}
	addr := binary.LittleEndian.Uint64(raw[at:])
	if addr == 0 {
		return halt.Range{}
	}
	return halt.Range{Addr: addr, Buf: a.Get(size)}
}

// waitsForLock tells whether a goroutine was parked to wait for a lock.
func (b *Backend) waitsForLock(h *head) bool {
	return h.status == gWaiting && int(h.reason) < len(b.t.reasons) && isLock(b.t.reasons[h.reason])
}

// hasSudogs tells whether a sudog can be read.
func (b *Backend) hasSudogs() bool { return b.t.l.Sudog.Size > 0 && b.t.l.Sudog.Size <= 1<<12 }

// noteSudog keeps what a goroutine waits at, from the sudog that was read together with its stack.
func (b *Backend) noteSudog(s *slot, sudog halt.Range) {
	if n := len(sudog.Buf); n > 0 && n == int(b.t.l.Sudog.Size) && binary.LittleEndian.Uint64(sudog.Buf[b.t.l.Sudog.G:]) == s.addr {
		s.sema = semaphore{b.element(sudog.Buf), s.head.seq, s.head.goid}
	}
}

// semaphoreOf gives the address that a goroutine waits at.
func (b *Backend) semaphoreOf(s *slot) uint64 {
	if s.sema.addr != 0 && s.sema.seq == s.head.seq && s.sema.goid == s.head.goid {
		return s.sema.addr
	}
	if !b.hasSudogs() {
		return 0
	}
	sudog := make([]byte, b.t.l.Sudog.Size)
	if b.waitersOf != b.number {
		b.waiters, b.waitersOf = b.readSemaphores(sudog), b.number
	}
	return b.ifParked(s, b.waiters[s.addr])
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

// element is what a sudog waits at. From Go 1.26 on the collector may be kept from seeing the pointer, and the number
// beside it holds.
func (b *Backend) element(sudog []byte) uint64 {
	at := b.t.l.Sudog.Elem
	if b.t.l.Sudog.ElemAddr.Has() {
		at = b.t.l.Sudog.ElemAddr
	}
	return binary.LittleEndian.Uint64(sudog[at:])
}

// readSemaphores gives what each goroutine waits at that waits for a semaphore: up to Go 1.25 a goroutine doesn't know
// it. The table has trees (prev, next) of the addresses waited at, each with a list (waitlink) of its waiters.
func (b *Backend) readSemaphores(sudog []byte) map[uint64]uint64 {
	l := b.t.l
	if b.t.bin.Globals.Semtable == 0 || !l.Semtable.Element.Has() || !l.Semtable.Len.Has() ||
		l.Semtable.Element*l.Semtable.Len > 1<<20 || !l.SemaRoot.Treap.Has() {
		return nil
	}
	roots := make([]byte, l.Semtable.Element*l.Semtable.Len)
	if b.t.Read(b.t.bin.Globals.Semtable, roots) != nil {
		return nil
	}
	var walk []uint64
	for at := l.SemaRoot.Treap; int(at)+8 <= len(roots); at += l.Semtable.Element {
		walk = append(walk, binary.LittleEndian.Uint64(roots[at:]))
	}
	waiters, seen := map[uint64]uint64{}, map[uint64]bool{}
	for len(walk) > 0 && len(seen) < maxSudogs {
		at := walk[len(walk)-1]
		walk = walk[:len(walk)-1]
		if at == 0 || seen[at] || b.t.Read(at, sudog) != nil {
			continue
		}
		seen[at] = true
		waiters[binary.LittleEndian.Uint64(sudog[l.Sudog.G:])] = b.element(sudog)
		for _, field := range []uint64{uint64(l.Sudog.Prev), uint64(l.Sudog.Next), uint64(l.Sudog.WaitLink)} {
			walk = append(walk, binary.LittleEndian.Uint64(sudog[field:]))
		}
	}
	return waiters
}
