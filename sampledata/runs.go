package sampledata

import (
	"hash/maphash"
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// A Run is a goroutine in one state over the samples First to Last, both included. The state is shared and must not be
// modified.
type Run struct {
	Goroutine   GoroutineID
	First, Last int32
	*State
}

// Runs are the runs of a recording, in order of First, then Goroutine; those of one goroutine don't overlap. A recording
// can have many millions of them: a run takes 16 bytes, and equal states are kept once.
type Runs struct {
	list   []storedRun
	states []State // all different
}

// A storedRun is a Run whose state is an index into Runs.states.
type storedRun struct {
	goroutine   GoroutineID
	first, last int32
	state       int32
}

// Len returns the number of runs.
func (r *Runs) Len() int { return len(r.list) }

// At returns a run by its number, from 0 up.
func (r *Runs) At(i int) Run {
	s := &r.list[i]
	return Run{Goroutine: s.goroutine, First: s.first, Last: s.last, State: &r.states[s.state]}
}

// All returns the runs with their numbers, in order.
func (r *Runs) All() iter.Seq2[int, Run] {
	return func(yield func(int, Run) bool) {
		for i := range r.list {
			if !yield(i, r.At(i)) {
				return
			}
		}
	}
}

// A growingRuns collects runs in their order.
type growingRuns struct {
	Runs
	index stateIndex
	open  []int32 // by goroutine: 1 + its open run, which has not ended yet; 0 for none
}

// state returns the state of a goroutine's open run.
func (r *growingRuns) state(g GoroutineID) (State, bool) {
	if i := r.open[g]; i > 0 {
		return r.states[r.list[i-1].state], true
	}
	return State{}, false
}

// change ends the goroutine's open run, if there is one, and begins another, unless the goroutine is gone.
func (r *growingRuns) change(sample int32, c *Change) {
	if i := r.open[c.Goroutine]; i > 0 {
		r.list[i-1].last = sample - 1
	}
	r.open[c.Goroutine] = 0
	if !c.Gone {
		r.list = append(r.list, storedRun{goroutine: c.Goroutine, first: sample, last: sample, state: r.code(c.State)})
		r.open[c.Goroutine] = int32(len(r.list))
	}
}

// code returns the index of a state, which is a new one if the state is.
func (r *growingRuns) code(s State) int32 {
	h := r.index.hash(&s)
	first := r.index.first[h]
	for i := first; i > 0; i = r.index.next[i-1] {
		if r.states[i-1] == s {
			return i - 1
		}
	}
	r.states = append(r.states, s)
	r.index.next = append(r.index.next, first)
	r.index.first[h] = int32(len(r.states))
	return int32(len(r.states)) - 1
}

// upTo returns the runs in list, which are those of r. It ends the open ones at the last sample.
func (r *growingRuns) upTo(list []storedRun, samples int) Runs {
	for _, i := range r.open {
		if i > 0 {
			list[i-1].last = int32(samples - 1)
		}
	}
	return Runs{list: list, states: slices.Clip(r.states)}
}

// A stateIndex finds states by a hash. The look-ups in a map with states as its keys took a third of the time in which a
// recording is read. The hash is seeded at random: no file can be made that has many states of one hash.
type stateIndex struct {
	first map[uint64]int32 // by hash: 1 + the newest state
	next  []int32          // by state: 1 + an older one of the same hash, 0 for none
	seed  maphash.Seed
	keys  [4]uint64 // random
}

func newStateIndex() stateIndex {
	x := stateIndex{first: make(map[uint64]int32), seed: maphash.MakeSeed()}
	for i := range x.keys {
		x.keys[i] = rand.Uint64()
	}
	return x
}

func (x *stateIndex) hash(s *State) uint64 {
	kind := uint64(s.Run) | uint64(s.Evidence)<<8
	if s.Torn {
		kind |= 1 << 16
	}
	if s.NoCPU {
		kind |= 1 << 17
	}
	return folded(uint64(uint32(s.Stack))<<32^uint64(uint32(s.Labels))^x.keys[0], uint64(uint32(s.Holders))<<32^uint64(uint32(s.Priority))^x.keys[1]) ^
		folded(s.Lock^x.keys[2], kind^x.keys[3]) ^ maphash.String(x.seed, s.Reason)
}

// folded returns the product of two numbers, with its upper half added to its lower one, so that every bit counts.
func folded(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}
