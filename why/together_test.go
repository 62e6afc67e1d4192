package why

import (
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/sampledata"
)

// Of four hosts, two wait for a lock, and one of them for its whole
// time: it stands out. Of another it is not known. Of two, none
// stands out.
func TestTogether(t *testing.T) {
	var all []*sampledata.Recording
	for _, waits := range []int{50, 100, 0, 12} {
		s := newScene()
		s.spawn(4, "main.worker")
		for i := range 100 {
			state := s.at(runs, "main.worker", "main.compute")
			if i < waits {
				state = s.at(blocked, "main.worker", "main.store", "sync.(*Mutex).Lock")
				state.Lock, state.Evidence = 0x200, sampledata.NoEvidence
			}
			changes := make(map[sampledata.GoroutineID]sampledata.State)
			for _, g := range s.goroutines {
				changes[g] = state
			}
			s.sample(t, changes)
		}
		all = append(all, s.Recording())
	}
	found := fixture.Must(Together(all, configured()))(t)
	i := slices.IndexFunc(found, func(c *Common) bool { return c.Kind == LockKind })
	if i < 0 {
		t.Fatalf("no finding is about the lock: %+v", found)
	}
	if c := found[i]; !slices.Equal(c.Holds, []hotspots.Verdict{hotspots.Yes, hotspots.Yes, hotspots.No, hotspots.Maybe}) || c.StandsOut != 1 || c.In != 1 {
		t.Errorf("it holds on %v, and %d of %v stands out; it is of %d", c.Holds, c.StandsOut, c.Shares, c.In)
	}
	still := newScene() // on another, it is no finding for another reason
	one := still.spawn(1, "main.worker")[0]
	for range 100 {
		state := still.at(selects, "main.worker", "main.store", "main.await")
		still.sample(t, map[sampledata.GoroutineID]sampledata.State{one: state})
	}
	moves := newScene()
	one = moves.spawn(1, "main.worker")[0]
	for i := range 100 {
		state := moves.at(selects, "main.worker", "main.store", "main.await")
		if i%5 == 0 {
			state = moves.at(runs, "main.worker", "main.store", "main.pack")
		}
		moves.sample(t, states{one: state})
	}
	same, err := Together([]*sampledata.Recording{moves.Recording(), still.Recording()}, configured())
	if err != nil || len(same) == 0 || !slices.Equal(same[0].Holds, []hotspots.Verdict{hotspots.Yes, hotspots.Maybe}) {
		t.Errorf("%v: %+v", err, same)
	}
	if found, err = Together(all[:2], configured()); err != nil || found[0].StandsOut != -1 {
		t.Errorf("%v: of two, %d stands out", err, found[0].StandsOut)
	}
}
