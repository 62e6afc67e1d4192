package sampledata

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"math/rand/v2"

	"github.com/cpprof/cpprof/internal/lists"
)

// A Run is a goroutine in one state over the samples First to
// Last, both included. It has all fields of a State, which runs
// share and nobody may modify.
type Run struct {
	Goroutine   GoroutineID
	First, Last int32
	*storedState
}

// A storedState is a State. A program that waits for locks has
// very many, which differ only in lock and holders. The rest is
// kept once. Lock and Holders are the storedState's own.
type storedState struct {
	Lock    uint64
	Holders HolderSetID
	*kind
}

// A kind is a State without Lock and Holders.
type kind State

func kindOf(s State) kind {
	s.Lock, s.Holders = 0, 0
	return kind(s)
}

// RunOf returns a run over given samples.
func RunOf(g GoroutineID, first, last int32, s State) Run {
	k := kindOf(s)
	return Run{g, first, last, &storedState{s.Lock, s.Holders, &k}}
}

// State returns the whole state.
func (s *storedState) State() State {
	state := State(*s.kind)
	state.Lock, state.Holders = s.Lock, s.Holders
	return state
}

// Runs are the runs of a recording, in order of First, then
// Goroutine. The runs of one goroutine don't overlap. A
// recording can have many millions: a run takes 12 bytes, or 20
// if it is very long, and equal states are kept once.
type Runs struct {
	list   runList
	states stateTable
}

// A stateTable has different states.
type stateTable struct {
	list  chunked[storedState]
	kinds chunked[*kind] // all different
}

func (t *stateTable) clip() stateTable { return stateTable{t.list.clip(), t.kinds.clip()} }

// Len returns the number of runs.
func (r *Runs) Len() int { return r.list.len() }

// At returns a run by its number, from 0 up.
func (r *Runs) At(i int) Run {
	stored := r.list.list.at(i)
	samples := r.list.samples(i, stored.short)
	return Run{stored.goroutine, samples.first, samples.last, r.states.list.at(int(stored.state))}
}

// All returns the runs with their numbers, in order.
func (r *Runs) All() iter.Seq2[int, Run] {
	return func(yield func(int, Run) bool) {
		for i := range r.Len() {
			if !yield(i, r.At(i)) {
				return
			}
		}
	}
}

// RunsByGoroutine returns the numbers of the runs of each
// goroutine, in order.
func (r *Recording) RunsByGoroutine() lists.Groups[GoroutineID] {
	goroutines := make([]GoroutineID, r.Runs.Len())
	for i := range goroutines {
		goroutines[i] = r.Runs.list.list.at(i).goroutine
	}
	return lists.GroupBy(goroutines, r.Goroutines.Len())
}

// A growingRuns collects runs in their order.
type growingRuns struct {
	Runs
	index, kinds stateIndex // of states, and of states.kinds
	open         []int32    // by goroutine: 1 + its open run, which has not ended yet; 0 for none
}

// state returns the state of a goroutine's open run.
func (r *growingRuns) state(g GoroutineID) (State, bool) {
	if i := r.open[g]; i > 0 {
		return r.At(int(i - 1)).State(), true
	}
	return State{}, false
}

// change ends the goroutine's open run, if there is one, and
// begins another, unless the goroutine is gone.
func (r *growingRuns) change(sample int32, c *Change) {
	if i := r.open[c.Goroutine]; i > 0 {
		r.list.end(int(i-1), sample-1)
	}
	r.open[c.Goroutine] = 0
	if !c.Gone {
		r.list.add(plainRun{goroutine: c.Goroutine, first: sample, last: sample,
			state: r.code(c.State)})
		r.open[c.Goroutine] = int32(r.list.len())
	}
}

// code returns the index of a state, which is a new one if the state is.
func (r *growingRuns) code(s State) int32 {
	t := &r.states
	k := kindOf(s)
	number, isNew := r.kinds.code(r.kinds.hash(&s),
		func(i int32) bool { return **t.kinds.at(int(i)) == k })
	if isNew {
		added := k // k itself would be allocated in each call
		t.kinds.add(&added)
	}
	stored := storedState{s.Lock, s.Holders, *t.kinds.at(int(number))}
	i, isNew := r.index.code(r.index.hashStored(&stored, number),
		func(i int32) bool { return *t.list.at(int(i)) == stored })
	if isNew {
		t.list.add(stored)
	}
	return i
}

// upTo returns runs of r as a list. It ends the open ones at the
// last sample.
func (r *growingRuns) upTo(list runList, samples int) Runs {
	for _, i := range r.open {
		if i > 0 {
			list.end(int(i-1), int32(samples-1))
		}
	}
	return Runs{list: list, states: r.states.clip()}
}

// A stateIndex finds states by a hash: it is an open hash table.
// Look-ups in a map with states as its keys took a third of the
// time to read a recording. The hash is seeded at random: no
// file can be made that has many states of one hash.
type stateIndex struct {
	// 1 + a state, 0 for none; at least half of them are free,
	// and their number is a power of two
	slots  []int32
	hashes []uint32 // by state
	seed   maphash.Seed
	keys   [4]uint64 // random
}

func newStateIndex() stateIndex {
	x := stateIndex{slots: make([]int32, 16), seed: maphash.MakeSeed()}
	for i := range x.keys {
		x.keys[i] = rand.Uint64()
	}
	return x
}

// code returns the index of the state with a hash for which
// equal is true. If there is none, it adds one.
func (x *stateIndex) code(h uint32, equal func(int32) bool) (i int32, isNew bool) {
	for slot := x.slot(h); ; slot = x.after(slot) {
		i := x.slots[slot] - 1
		if i < 0 {
			return x.add(slot, h), true
		}
		if x.hashes[i] == h && equal(i) {
			return i, false
		}
	}
}

// slot returns where the search for a hash begins.
func (x *stateIndex) slot(h uint32) int { return int(h) & (len(x.slots) - 1) }

// after returns where the search goes on.
func (x *stateIndex) after(slot int) int { return (slot + 1) & (len(x.slots) - 1) }

// add puts a new state into a free slot, and returns its index.
func (x *stateIndex) add(slot int, h uint32) int32 {
	x.hashes = append(x.hashes, h)
	n := len(x.hashes)
	x.slots[slot] = int32(n)
	if 2*n > len(x.slots) {
		x.grow()
	}
	return int32(n) - 1
}

func (x *stateIndex) grow() {
	x.slots = make([]int32, 2*len(x.slots))
	for i, h := range x.hashes {
		slot := x.slot(h)
		for x.slots[slot] != 0 {
			slot = x.after(slot)
		}
		x.slots[slot] = int32(i) + 1
	}
}

// hash returns the hash of a state without its lock and holders.
func (x *stateIndex) hash(s *State) uint32 {
	kind := uint64(s.Run) | uint64(s.Evidence)<<8
	if s.Torn {
		kind |= 1 << 16
	}
	if s.NoCPU {
		kind |= 1 << 17
	}
	h := folded(uint64(uint32(s.Stack))<<32^uint64(uint32(s.Labels))^x.keys[0],
		uint64(uint32(s.Priority))^x.keys[1]) ^
		folded(x.keys[2], kind^uint64(uint32(s.Release))<<32^x.keys[3]) ^ maphash.String(
		x.seed, s.Reason)
	return uint32(h ^ h>>32)
}

// hashStored returns the hash of a state, given the number of its kind.
func (x *stateIndex) hashStored(s *storedState, number int32) uint32 {
	h := folded(s.Lock^x.keys[0], uint64(uint32(s.Holders))<<32^uint64(uint32(number))^x.keys[1])
	return uint32(h ^ h>>32)
}

// folded returns the product of two numbers, with its upper half
// added to its lower one. Every bit then counts.
func folded(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}
