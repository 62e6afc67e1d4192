package holders

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/holders/syncflow"
	"github.com/cpprof/cpprof/sampler/target/goruntime"
)

// A record is what is known about one goroutine.
type record struct {
	held      heldLocks
	uses      uses
	semaphore semaphore
	named     Wait // the last wait for which the lock or channel is known
	wish      wish // what it wishes for, if it waits for a lock
	awaited   syncflow.Action
	waiting   bool // it is in holders.waiting
	waited    waited
	received  waited // channels that it waited to receive from
	timed     timed  // the last wait in a select that a timer may end
}

// waited are the locks or channels that a goroutine has waited
// for, latest last.
type waited struct {
	goroutine int64
	locks     []uint64
}

// maxWaited is how many they are at most.
const maxWaited = 4

// note adds a lock.
func (w *waited) note(goroutine int64, lock uint64) {
	if w.goroutine != goroutine {
		w.goroutine, w.locks = goroutine, w.locks[:0]
	}
	w.locks = noteLatest(w.locks, lock, maxWaited)
}

// has reports whether a goroutine was seen to wait for a lock.
func (w *waited) has(goroutine int64, lock uint64) bool {
	return w.goroutine == goroutine && slices.Contains(w.locks, lock)
}

// latest returns the lock that a goroutine was seen to wait for
// last, 0 for none.
func (w *waited) latest(goroutine int64) uint64 {
	if w.goroutine != goroutine || len(w.locks) == 0 {
		return 0
	}
	return w.locks[len(w.locks)-1]
}

// heldLocks are the locks that a goroutine holds or may hold, by
// its stack.
type heldLocks struct {
	list     []syncflow.Held
	complete bool   // nothing more can be learned from the stack
	partial  bool   // the stack's outermost frames are missing
	sample   uint32 // number of the sample in which the stack was seen
	listed   bool   // it is in holders.holding
}

// nameable reports whether the goroutine may be named as the
// holder of a lock.
func (h *heldLocks) nameable() bool {
	return slices.ContainsFunc(h.list,
		func(l syncflow.Held) bool { return l.Certainty != syncflow.Possible })
}

// A semaphore is the semaphore that a goroutine is parked at, by
// its stack.
type semaphore struct {
	addr   uint64
	sudog  uint64 // the runtime's record of the wait
	wait   Wait   // the wait that this is about
	sample uint32 // number of the sample in which the stack was seen
}

// Stack records what a goroutine's stack shows. It replaces what
// was known from an earlier stack.
func (f *Finder) Stack(key int32, st *Stack) {
	f.Forget(key)
	w := f.code.start()
	f.seeSemaphore(key, st)
	if f.holders.active {
		f.holders.see(key, st)
	}
	if f.enders.active {
		f.enders.see(key, st)
	}
	f.code.stop(w)
}

// Forget drops what a goroutine's stack has shown: the goroutine
// now has another stack, which is not known.
func (f *Finder) Forget(key int32) {
	r := &f.records[key]
	r.held.complete, r.held.list = false, r.held.list[:0]
	r.uses.complete, r.uses.list = false, r.uses.list[:0]
	r.semaphore = semaphore{}
}

// see finds the locks that a goroutine holds.
func (h *holders) see(key int32, st *Stack) {
	held := &h.records[key].held
	held.list, held.complete = h.code.Held(held.list, st.Frames, st.Memory, st.Registers)
	held.sample, held.partial = h.number, st.Partial
	if len(held.list) > 0 && !held.listed {
		held.listed = true
		h.holding = append(h.holding, key)
	}
}

// seeSemaphore finds the semaphore at which a goroutine is, or
// was until it was woken, parked for a lock. Waits for locks are
// short: many are over by the end of the halt, and then only the
// copied stack shows what they were for.
func (f *Finder) seeSemaphore(key int32, st *Stack) {
	s := f.sample.Sighting(key)
	if s.ParkedBy.Awaits == goruntime.AwaitsLock {
		addr, sudog := f.code.Semaphore(st.Frames, st.Memory)
		f.records[key].semaphore = semaphore{addr, sudog, s.Wait, f.number}
		f.code.Awaited(st.Frames)
		f.reads.noteSudog(sudog)
	}
}

// lockOf returns the address of the lock that a goroutine waits
// for, or waited for until it was woken; 0 if it is not known.
func (k *shared) lockOf(key int32, s *Sighting) uint64 {
	sema := &k.records[key].semaphore
	if sema.wait != s.Wait {
		return 0
	}
	return s.ParkedBy.LockAt(sema.addr)
}

// Wait completes the new state of a goroutine that waits: it
// adds which lock, channel, group or condition the goroutine
// waits for, and for whom. was is the state that the sink knows;
// what that says about the same wait stays true until Find
// changes it. sudog is the first of the runtime's records of the
// wait (g.waiting). Wait reports whether the goroutine waits for
// a lock that it did not wait for before.
func (f *Finder) Wait(key int32, reason goruntime.WaitReason, was, now *sampledata.State,
	sudog uint64) (begun bool) {
	r := &f.records[key]
	r.awaited = syncflow.Action{}
	s := f.sample.Sighting(key)
	switch reason.Awaits {
	case goruntime.AwaitsLock:
		now.Lock = f.lockOf(key, &s)
		if begun = now.Lock != 0 && (was.Lock != now.Lock || r.named != s.Wait); begun {
			r.named = s.Wait
		}
		f.holders.add(key, wish{lock: now.Lock, mode: modeOf(reason)})
	case goruntime.AwaitsChannel:
		f.enders.addChannel(key, reason, &s, was, now, sudog)
	case goruntime.AwaitsGroup:
		f.enders.addGroup(key, now)
	case goruntime.AwaitsChannels:
		if !f.enders.addGroup(key, now) {
			f.enders.addChannel(key, reason, &s, was, now, sudog)
		}
	default:
		return false
	}
	if was.Run == now.Run && was.Reason == now.Reason && was.Lock == now.Lock {
		now.Evidence, now.Holders = was.Evidence, was.Holders
	}
	return begun
}

// current reports whether what is known about a goroutine's
// stack is true in this sample: the stack was seen in it, or has
// not changed since.
func (k *shared) current(s *Sighting, seen uint32) bool {
	return s.Exists && (s.Still || seen == k.number)
}

// A wish is what a goroutine that waits for a lock needs: that
// those that hold the lock in a certain mode release it.
type wish struct {
	lock uint64
	mode syncflow.Mode
}

// modeOf returns how a lock is held by those that keep others
// waiting for a reason. A writer of a sync.RWMutex whose turn it
// is waits only for readers.
func modeOf(reason goruntime.WaitReason) syncflow.Mode {
	if reason.Readers {
		return syncflow.Read
	}
	return syncflow.Write
}

// add adds a goroutine to the list of those that wait for locks.
func (h *holders) add(key int32, w wish) {
	r := &h.records[key]
	r.waited.note(h.sample.Sighting(key).Wait.Goroutine, w.lock)
	if r.waiting && r.wish != w {
		h.released[r.wish] = h.last
	}
	r.wish = w
	if !r.waiting {
		r.waiting = true
		h.waiting = append(h.waiting, key)
	}
}

// holds returns the locks that a goroutine holds or may hold in
// this sample.
func (h *holders) holds(key int32) []syncflow.Held {
	held := &h.records[key].held
	if len(held.list) == 0 {
		return nil
	}
	if s := h.sample.Sighting(key); !h.current(&s, held.sample) {
		return nil
	}
	return held.list
}
