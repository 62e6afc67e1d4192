package holders

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
	"github.com/cpprof/cpprof/sampler/target/goruntime/layout"
	"github.com/cpprof/cpprof/sampler/target/memory"
)

// A scene is a sample that a test describes: goroutines, what
// their stacks have shown, and memory. A goroutine's ID is its
// key plus 100.
type scene struct {
	t       *testing.T
	f       *Finder
	seen    []Sighting
	states  []sampledata.State
	memory  map[uint64][]byte
	leaves  map[int32]bool // goroutines that move right after the halt
	sets    [][]sampledata.GoroutineID
	updates int
	now     int64 // the program's time
}

// Offsets of the fields in the sudogs of scenes.
var sceneSudog = layout.Sudog{Size: 96, G: 0, C: 88, CAddr: layout.Missing, Ticket: 56, Elem: 24, ElemAddr: layout.Missing, WaitLink: 72}

// newScene returns the first sample of a program with some
// goroutines, none of which waits for anything.
func newScene(t *testing.T, goroutines int) *scene {
	s := &scene{
		t: t, memory: map[uint64][]byte{}, leaves: map[int32]bool{}, seen: make([]Sighting, goroutines),
		states: make([]sampledata.State, goroutines), sets: [][]sampledata.GoroutineID{nil},
	}
	for key := range s.seen {
		s.seen[key] = Sighting{
			ID: sampledata.GoroutineID(100 + key), Exists: true, Still: true, Addr: 0x1000 * uint64(key+1),
			Wait: Wait{Goroutine: int64(key + 1)},
		}
	}
	s.f = newFinder(Config{Sudog: sceneSudog, Now: func() time.Duration { return time.Duration(s.now) }}, s, learner{})
	s.f.Grow(goroutines)
	s.f.holders.active, s.f.enders.active, s.f.number = true, true, 1
	return s
}

func (s *scene) Sighting(key int32) Sighting { return s.seen[key] }

func (s *scene) Recheck(ranges []memory.Range, keys []int32) {
	for i := range ranges {
		ranges[i].Buf = ranges[i].Buf[:copy(ranges[i].Buf, s.memory[ranges[i].Addr])]
	}
	for _, key := range keys {
		s.seen[key].Stood = !s.leaves[key]
	}
}

func (s *scene) HolderSet(ids []sampledata.GoroutineID) sampledata.HolderSetID {
	s.sets = append(s.sets, slices.Clone(ids))
	return sampledata.HolderSetID(len(s.sets) - 1)
}

func (s *scene) Update(key int32, lock uint64, e sampledata.Evidence, holders sampledata.HolderSetID) {
	s.updates++
	st := &s.states[key]
	st.Lock, st.Evidence, st.Holders = lock, e, holders
}

func (s *scene) SetReason(key int32, reason string) { s.states[key].Reason = reason }

// next begins the next sample, in whose halt nobody has been seen yet.
func (s *scene) next() {
	s.f.number++
	s.f.reads.begin()
	s.f.enders.begin()
	for i := range s.seen {
		s.seen[i].InHalt, s.seen[i].Stood = false, false
	}
}

// waits makes a goroutine wait, for a lock with a semaphore or
// with a sudog for a channel.
func (s *scene) waits(key int32, reason string, semaphoreAt, sudog uint64) {
	r := goruntime.ReasonOf(reason)
	v := &s.seen[key]
	v.ParkedBy, v.Run = r, sampledata.Waiting
	if r.Awaits == goruntime.AwaitsLock {
		v.Run = sampledata.Blocked
		s.f.records[key].semaphore = semaphore{semaphoreAt, sudog, v.Wait, s.f.number}
	}
	now := sampledata.State{Run: v.Run, Reason: reason, Stack: s.states[key].Stack}
	s.f.Wait(key, r, &s.states[key], &now, sudog)
	s.states[key] = now
}

// holds makes a goroutine's stack show that it holds a lock.
func (s *scene) holds(key int32, lock uint64, mode syncflow.Mode) {
	s.shows(key, syncflow.Held{Lock: lock, Mode: mode})
}

// shows makes a goroutine's stack show something about locks.
func (s *scene) shows(key int32, l syncflow.Held) {
	held := &s.f.records[key].held
	held.list, held.sample = append(held.list, l), s.f.number
	if !held.listed {
		held.listed = true
		s.f.holders.holding = append(s.f.holders.holding, key)
	}
}

// does makes a goroutine's stack show what it will do with a
// channel, a group or a condition.
func (s *scene) does(key int32, a syncflow.Action) {
	u := &s.f.records[key].uses
	u.list, u.sample = append(u.list, a), s.f.number
	for kind := range numThings {
		if !u.listed[kind] && u.has(kind) {
			u.listed[kind] = true
			s.f.enders.users[kind] = append(s.f.enders.users[kind], key)
		}
	}
}

// put sets a word of the memory at an address.
func (s *scene) put(addr uint64, offset int, word uint64) {
	if s.memory[addr] == nil {
		s.memory[addr] = make([]byte, 96)
	}
	binary.LittleEndian.PutUint64(s.memory[addr][offset:], word)
}

// halt reads the ranges that the finder asks for.
func (s *scene) halt() {
	s.f.Expect()
	s.Recheck(s.f.FirstReads(), nil)
	s.Recheck(s.f.SecondReads(), nil)
}

// expect checks for whom a goroutine is reported to wait.
func (s *scene) expect(key int32, e sampledata.Evidence, holders ...sampledata.GoroutineID) {
	s.t.Helper()
	st := &s.states[key]
	if got := s.sets[st.Holders]; st.Evidence != e || !slices.Equal(got, holders) {
		s.t.Errorf("goroutine %d waits for %v with evidence %v, want %v with %v", 100+key, got, st.Evidence, holders, e)
	}
}
