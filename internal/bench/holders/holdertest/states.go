package holdertest

import (
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// states is a sink that keeps the states of the current sample at hand.
type states struct {
	*sampledata.Builder
	ids  []int64 // by goroutine: its number in the program
	sets map[sampledata.HolderSetID][]int64
	now  map[sampledata.GoroutineID]sampledata.State
}

func newStates(h sampledata.Header) *states {
	return &states{
		Builder: sampledata.NewBuilder(h), sets: map[sampledata.HolderSetID][]int64{},
		now: map[sampledata.GoroutineID]sampledata.State{},
	}
}

func (s *states) Goroutine(g sampledata.Goroutine) sampledata.GoroutineID {
	id := s.Builder.Goroutine(g)
	if int(id) == len(s.ids) {
		s.ids = append(s.ids, g.ID)
	}
	return id
}

func (s *states) HolderSet(set []sampledata.GoroutineID) sampledata.HolderSetID {
	id := s.Builder.HolderSet(set)
	if s.sets[id] == nil {
		for _, g := range set {
			s.sets[id] = append(s.sets[id], s.ids[g])
		}
		slices.Sort(s.sets[id])
	}
	return id
}

func (s *states) Sample(sample sampledata.Sample, changes []sampledata.Change) error {
	for _, c := range changes {
		if c.Gone {
			delete(s.now, c.Goroutine)
		} else {
			s.now[c.Goroutine] = c.State
		}
	}
	return s.Builder.Sample(sample, changes)
}
