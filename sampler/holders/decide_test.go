package holders

import (
	"testing"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

const (
	none      = sampledata.NoEvidence
	ambiguous = sampledata.Ambiguous
	inferred  = sampledata.Inferred

	lock = 0x100 // address of a sync.Mutex or sync.RWMutex

	forMutex   = goruntime.MutexLock
	forWriting = "sync.RWMutex.Lock"
	forReading = "sync.RWMutex.RLock"
)

// Goroutine 0 waits for a mutex that 1 or 2 may hold.
func TestDecide(t *testing.T) {
	type seen struct{ inHalt, leaves bool }
	for _, c := range []struct {
		name     string
		waiter   seen
		holders  []seen
		state    uint64 // of the mutex
		evidence sampledata.Evidence
		want     []sampledata.GoroutineID
	}{
		{"both seen in the halt", seen{inHalt: true}, []seen{{inHalt: true}}, goruntime.MutexLocked, inferred, []sampledata.GoroutineID{101}},
		{"both seen before it", seen{}, []seen{{}}, goruntime.MutexLocked, inferred, []sampledata.GoroutineID{101}},
		{"the waiter stood from before it", seen{}, []seen{{inHalt: true}}, goruntime.MutexLocked, inferred, []sampledata.GoroutineID{101}},
		{"the waiter may have been gone", seen{leaves: true}, []seen{{inHalt: true}}, goruntime.MutexLocked, none, nil},
		{"the holder may have been gone", seen{inHalt: true}, []seen{{leaves: true}}, goruntime.MutexLocked, none, nil},
		{"two seem to hold it", seen{inHalt: true}, []seen{{inHalt: true}, {inHalt: true}}, goruntime.MutexLocked, ambiguous, []sampledata.GoroutineID{101, 102}},
		{"one of two has moved on", seen{}, []seen{{leaves: true}, {}}, goruntime.MutexLocked, inferred, []sampledata.GoroutineID{102}},
		{"the lock is free", seen{inHalt: true}, []seen{{inHalt: true}}, 0, none, nil},
		{"nobody seems to hold it", seen{inHalt: true}, nil, goruntime.MutexLocked, none, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, 3)
			s.put(lock, 0, c.state)
			s.waits(0, forMutex, lock+goruntime.MutexSema, 0)
			s.seen[0].InHalt, s.leaves[0] = c.waiter.inHalt, c.waiter.leaves
			for i, h := range c.holders {
				key := int32(i + 1)
				s.holds(key, lock, syncflow.Write)
				s.seen[key].InHalt, s.leaves[key] = h.inHalt, h.leaves
			}
			s.halt()
			s.f.Find(Halt{Consistent: true})
			s.expect(0, c.evidence, c.want...)
			if s.states[0].Lock != lock {
				t.Errorf("it waits for %#x", s.states[0].Lock)
			}
		})
	}
}

// A writer waits for as many readers as the lock counts.
// Goroutines that come later wait for the writer.
func TestReaders(t *testing.T) {
	for _, c := range []struct {
		counted  uint64
		evidence sampledata.Evidence
	}{{2, inferred}, {3, ambiguous}} {
		s := newScene(t, 5)
		s.put(lock, goruntime.RWMutexReaderCount, c.counted<<32) // readerWait
		s.waits(0, forWriting, lock+goruntime.RWMutexWriterSem, 0)
		s.waits(1, forReading, lock+goruntime.RWMutexReaderSem, 0)
		s.waits(4, forMutex, lock+goruntime.MutexSema, 0)
		s.holds(2, lock, syncflow.Read)
		s.holds(3, lock, syncflow.Read)
		for i := range s.seen {
			s.seen[i].InHalt = true
		}
		s.put(lock, 0, goruntime.MutexLocked)
		s.halt()
		s.f.Find(Halt{Consistent: true})
		s.expect(0, c.evidence, 102, 103)
		s.expect(1, inferred, 100)
		s.expect(4, inferred, 100)
	}
}

// A goroutine that waits to read holds no read lock by that,
// even if its code will release one. If it has one from before,
// it waits for itself: the writer waits for it, and it for the
// writer.
func TestPendingReader(t *testing.T) {
	for _, c := range []struct {
		name     string
		readers  uint64
		shows    syncflow.Certainty
		woken    bool
		evidence sampledata.Evidence
		want     []sampledata.GoroutineID
	}{
		{"it may hold it", 1, syncflow.Doubtful, false, inferred, []sampledata.GoroutineID{102}},
		{"it may hold it, and one holder is not known", 2, syncflow.Doubtful, false, ambiguous, []sampledata.GoroutineID{102}},
		{"it has taken it before", 2, syncflow.Sure, false, inferred, []sampledata.GoroutineID{101, 102}},
		{"it was woken", 2, 0, true, sampledata.Likely, []sampledata.GoroutineID{101, 102}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, 3)
			s.put(lock, goruntime.RWMutexReaderCount, c.readers<<32) // readerWait
			s.waits(0, forWriting, lock+goruntime.RWMutexWriterSem, 0)
			s.waits(1, forReading, lock+goruntime.RWMutexReaderSem, 0)
			if !c.woken {
				s.shows(1, syncflow.Held{Lock: lock, Mode: syncflow.Read, Certainty: c.shows})
			}
			s.holds(2, lock, syncflow.Read)
			for i := range s.seen {
				s.seen[i].InHalt, s.f.records[i].held.complete = true, true
			}
			halt := Halt{Consistent: true}
			if c.woken {
				s.seen[1].Run = sampledata.Runnable
				halt.Woken[0] = []int32{1}
			}
			s.halt()
			s.f.Find(halt)
			s.expect(0, c.evidence, c.want...)
		})
	}
}

// Goroutine 0 waits for a mutex that Unlock has handed to 1.
func TestHandover(t *testing.T) {
	const sudog = 0x900
	for _, c := range []struct {
		name       string
		state      uint64
		ticket     uint64
		owner      int // of the sudog
		consistent bool
		evidence   sampledata.Evidence
		want       []sampledata.GoroutineID
	}{
		{"handed over", goruntime.MutexStarving, 1, 1, true, inferred, []sampledata.GoroutineID{101}},
		{"not yet", goruntime.MutexStarving, 0, 1, true, ambiguous, []sampledata.GoroutineID{101}},
		{"the sudog serves another one", goruntime.MutexStarving, 1, 2, true, ambiguous, []sampledata.GoroutineID{101}},
		{"it competes", goruntime.MutexWoken, 1, 1, true, sampledata.Free, []sampledata.GoroutineID{101}},
		{"nobody competes", 0, 0, 1, true, sampledata.Free, nil},
		{"free at another moment", goruntime.MutexWoken, 1, 1, false, none, nil},
		{"somebody was faster", goruntime.MutexLocked | goruntime.MutexStarving, 1, 1, true, none, nil},
		{"not of one moment", goruntime.MutexStarving, 1, 1, false, none, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t, 3)
			s.put(lock, 0, c.state)
			s.put(sudog, int(sceneSudog.G), s.seen[c.owner].Addr)
			s.put(sudog, int(sceneSudog.Ticket), c.ticket)
			s.f.reads.noteSudog(sudog)
			s.waits(0, forMutex, lock+goruntime.MutexSema, 0)
			s.waits(1, forMutex, lock+goruntime.MutexSema, sudog)
			s.f.AtHalt(0, true)
			s.halt()
			s.seen[0].InHalt, s.seen[1].InHalt, s.seen[1].Run = true, true, sampledata.Runnable
			s.f.Find(Halt{Consistent: c.consistent, Woken: [2][]int32{{1, 2}}})
			s.expect(0, c.evidence, c.want...)
		})
	}
}

// The sudogs are read only if a lock is being handed over, and
// the list of them is bounded.
func TestSecondReads(t *testing.T) {
	s := newScene(t, 1)
	for i := range uint64(maxSudogs + 10) {
		s.f.reads.noteSudog(0x10000 + 0x100*i)
	}
	s.f.reads.noteSudog(0x10000 + 0x100*20) // once more
	s.waits(0, forMutex, lock+goruntime.MutexSema, 0)
	s.f.AtHalt(0, true)
	for state, want := range map[uint64]int{goruntime.MutexLocked: 0, goruntime.MutexStarving: maxSudogs} {
		s.put(lock, 0, state)
		s.halt()
		reads := s.f.reads.sudogs
		if len(reads) != want {
			t.Errorf("with the mutex in state %d, %d sudogs are read, want %d", state, len(reads), want)
		}
		if want > 0 && (reads[0].Addr != 0x10000+0x100*10 || reads[want-1].Addr != 0x10000+0x100*20) {
			t.Errorf("sudogs from %#x to %#x are read", reads[0].Addr, reads[want-1].Addr)
		}
	}
}

// A halt reads locks that goroutines have waited for before: it
// may be the first to see that they do so again.
func TestRecentLocks(t *testing.T) {
	s := newScene(t, 1)
	wait := func(at uint64) {
		s.waits(0, forMutex, at+goruntime.MutexSema, 0)
		s.seen[0].InHalt = true
		s.f.Find(Halt{Consistent: true})
		s.next()
	}
	wait(lock)
	s.seen[0].Run, s.seen[0].Still = sampledata.Running, false
	s.halt()
	s.f.Find(Halt{Consistent: true})
	s.next()
	s.seen[0].Still = true
	s.put(lock, 0, 0)
	s.halt()
	s.waits(0, forMutex, lock+goruntime.MutexSema, 0)
	s.seen[0].InHalt = true
	s.f.Find(Halt{Consistent: true})
	s.expect(0, sampledata.Free)

	s.next()
	for i := range uint64(maxRecent) {
		wait(lock + 0x100*(i+1))
		s.f.Expect()
	}
	if len(s.f.reads.recent) != maxRecent || at(s.f.reads.locks, lock) != nil {
		t.Errorf("locks at %#x are read", s.f.reads.recent)
	}
}
