package holders

import (
	"testing"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// newLikelyScene returns a scene in which goroutine 0 waits for
// a mutex, 1 may hold it, and everything is known about 2 and 3.
func newLikelyScene(t *testing.T) *scene {
	s := newScene(t, 4)
	for key := range s.f.records {
		s.f.records[key].held.complete = true
	}
	s.put(lock, 0, goruntime.MutexLocked)
	s.waits(0, forMutex, lock+goruntime.MutexSema, 0)
	s.f.records[1].waited.note(2, lock)
	s.shows(1, syncflow.Held{Lock: lock, Certainty: syncflow.Doubtful})
	s.seen[0].InHalt, s.seen[1].InHalt = true, true
	return s
}

// Goroutine 1 is the likely holder if nobody else may hold the mutex.
func TestLikely(t *testing.T) {
	one, two := []sampledata.GoroutineID{101}, []sampledata.GoroutineID{101, 102}
	for _, c := range []struct {
		name     string
		change   func(s *scene)
		evidence sampledata.Evidence
		want     []sampledata.GoroutineID
	}{
		{"it is the only one", func(*scene) {}, sampledata.Likely, one},
		{"another one surely holds it", func(s *scene) { s.holds(2, lock, syncflow.Write) }, inferred, []sampledata.GoroutineID{102}},
		{"another one may, too", func(s *scene) {
			s.shows(2, syncflow.Held{Lock: lock, Certainty: syncflow.Doubtful})
			s.seen[2].InHalt = true
		}, ambiguous, two},
		{"another one is not excluded", func(s *scene) { s.shows(2, syncflow.Held{Lock: lock, Certainty: syncflow.Possible}) }, ambiguous, one},
		{"another one may hold something", func(s *scene) { s.shows(2, syncflow.Held{Certainty: syncflow.Possible}) }, ambiguous, one},
		{"a waiter may hold something else", func(s *scene) { s.shows(0, syncflow.Held{Certainty: syncflow.Possible}) }, sampledata.Likely, one},
		{"the code of another one is not known", func(s *scene) { s.f.records[3].held.complete = false }, ambiguous, one},
		{"the stack of another one is cut", func(s *scene) { s.f.records[3].held.partial = true }, ambiguous, one},
		{"another one has just begun", func(s *scene) { s.seen[3].Exists, s.seen[3].Hidden = false, true }, ambiguous, one},
		{"another one was woken for it", func(s *scene) {
			s.waits(2, forMutex, lock+goruntime.MutexSema, 0)
			s.seen[2].Run, s.seen[2].InHalt = sampledata.Runnable, true
			s.shows(2, syncflow.Held{Lock: lock, Certainty: syncflow.Possible})
		}, sampledata.Likely, one},
		{"nothing leads to the lock that it may hold", func(s *scene) {
			s.f.records[1].held.list = nil
			s.shows(1, syncflow.Held{Certainty: syncflow.Possible})
		}, sampledata.Likely, one},
		{"it waited for another one since", func(s *scene) {
			s.f.records[1].held.list = nil
			s.shows(1, syncflow.Held{Certainty: syncflow.Possible})
			s.f.records[1].waited.note(2, lock+8)
		}, none, nil},
		{"another waiter has moved since it was seen", func(s *scene) {
			s.waits(2, forMutex, lock+goruntime.MutexSema, 0)
			s.leaves[2] = true
		}, ambiguous, one},
		{"another waiter stays", func(s *scene) { s.waits(2, forMutex, lock+goruntime.MutexSema, 0) }, sampledata.Likely, one},
		{"another one has moved", func(s *scene) { s.seen[3].Still = false }, ambiguous, one},
		{"another one has ended", func(s *scene) { s.seen[3].Exists, s.seen[3].Still = false, false }, sampledata.Likely, one},
		{"it was never seen to wait", func(s *scene) { s.f.records[1].waited.locks = nil }, ambiguous, one},
		{"another one waited that had its number", func(s *scene) { s.seen[1].Wait.Goroutine++ }, ambiguous, one},
		{"the mutex is free", func(s *scene) { s.put(lock, 0, 0) }, none, nil},
		{"the mutex can't be read", func(s *scene) { delete(s.memory, lock) }, none, nil},
		{"it has moved since", func(s *scene) { s.seen[1].InHalt, s.leaves[1] = false, true }, none, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newLikelyScene(t)
			c.change(s)
			s.halt()
			s.f.Find(Halt{Consistent: true})
			s.expect(0, c.evidence, c.want...)
		})
	}
}

// If the halt was not at one moment, nobody is likely to hold
// the mutex. If it saw all goroutines, nobody has moved before
// it.
func TestLikelyHalt(t *testing.T) {
	for halt, evidence := range map[*Halt]sampledata.Evidence{
		{}: ambiguous, {Consistent: true}: ambiguous, {Consistent: true, Whole: true}: sampledata.Likely,
	} {
		s := newLikelyScene(t)
		s.waits(2, forMutex, lock+goruntime.MutexSema, 0)
		s.leaves[2] = true
		s.halt()
		s.f.Find(*halt)
		s.expect(0, evidence, 101)
	}
}

// A writer waits for two readers: one surely reads, another one
// likely, though it was never seen to wait.
func TestLikelyReaders(t *testing.T) {
	for counted, evidence := range map[uint64]sampledata.Evidence{1: inferred, 2: sampledata.Likely, 3: ambiguous} {
		s := newScene(t, 4)
		for key := range s.f.records {
			s.f.records[key].held.complete, s.seen[key].InHalt = true, true
		}
		s.put(lock, goruntime.RWMutexReaderCount, counted<<32) // readerWait
		s.waits(0, forWriting, lock+goruntime.RWMutexWriterSem, 0)
		s.holds(1, lock, syncflow.Read)
		s.shows(2, syncflow.Held{Lock: lock, Mode: syncflow.Read, Certainty: syncflow.Doubtful})
		s.halt()
		s.f.Find(Halt{Consistent: true})
		if counted == 1 {
			s.expect(0, evidence, 101)
		} else {
			s.expect(0, evidence, 101, 102)
		}
	}
}

// If a goroutine was at such a place while another one held the
// lock, the place proves nothing any more.
func TestRefuted(t *testing.T) {
	s := newLikelyScene(t)
	s.holds(2, lock, syncflow.Write)
	s.seen[2].InHalt = true
	s.halt()
	s.f.Find(Halt{Consistent: true})
	s.expect(0, inferred, 102)

	s.next()
	s.f.records[2].held.list = nil
	s.seen[0].InHalt, s.seen[1].InHalt = true, true
	s.halt()
	s.f.Find(Halt{Consistent: true})
	s.expect(0, ambiguous, 101)
}

// If another goroutine stops waiting, the mutex was released,
// but not by a goroutine that has not moved.
func TestReleasedSince(t *testing.T) {
	for _, stays := range []bool{true, false} {
		s := newLikelyScene(t)
		s.f.records[1].held.sample = 0 // it was seen before the first sample of this scene
		s.waits(2, forMutex, lock+goruntime.MutexSema, 0)
		s.halt()
		s.f.Find(Halt{Consistent: true})
		s.expect(0, sampledata.Likely, 101)

		s.next()
		s.seen[0].InHalt, s.seen[1].InHalt, s.seen[2].Run = true, true, sampledata.Waiting
		if !stays {
			s.f.records[1].held.sample = s.f.number
		}
		s.halt()
		s.f.Find(Halt{Consistent: true})
		if stays {
			s.expect(0, none)
		} else {
			s.expect(0, sampledata.Likely, 101)
		}
	}
}

// If a goroutine was at such a place while the mutex was free,
// the place proves nothing any more.
func TestRefutedByFree(t *testing.T) {
	for state, evidence := range map[uint64]sampledata.Evidence{
		0: ambiguous, goruntime.MutexLocked: sampledata.Likely, goruntime.MutexStarving: sampledata.Likely,
	} {
		s := newLikelyScene(t)
		s.halt()
		s.f.Find(Halt{Consistent: true})
		s.expect(0, sampledata.Likely, 101)

		s.next()
		s.put(lock, 0, state)
		s.seen[0].InHalt, s.seen[1].InHalt = true, true
		s.halt()
		s.f.Find(Halt{Consistent: true})

		s.next()
		s.put(lock, 0, goruntime.MutexLocked)
		s.seen[0].InHalt, s.seen[1].InHalt = true, true
		s.halt()
		s.f.Find(Halt{Consistent: true})
		s.expect(0, evidence, 101)
	}
}
