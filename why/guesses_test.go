package why

import (
	"slices"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// Who waits for a goroutine that it has started elsewhere waits as
// long as that lives. One that lives on is no reason.
func TestOffspring(t *testing.T) {
	for _, c := range []struct {
		lives int // samples, from the first one of a wait of five
		named bool
	}{{5, true}, {2, false}, {9, false}} {
		s := newScene()
		publisher := s.spawn(1, "main.publish")[0]
		var alive []sampledata.GoroutineID
		ends := make(map[int]sampledata.GoroutineID)
		for i := range 120 {
			states := make(map[sampledata.GoroutineID]sampledata.State)
			if states[publisher] = s.at(selects, "main.publish", "bus/lib.(*Bus).Publish"); i%6 == 5 {
				states[publisher] = s.at(runs, "main.publish")
			}
			if i%6 == 0 {
				g := s.Goroutine(sampledata.Goroutine{ID: int64(100 + i), Start: s.function("bus/lib.deliver"), Parent: 1,
					Site: sampledata.Site{Function: "bus/lib.(*Bus).begin"}})
				alive, ends[i+c.lives] = append(alive, g), g
			}
			if g, ended := ends[i]; ended {
				alive = slices.DeleteFunc(alive, func(other sampledata.GoroutineID) bool { return other == g })
				s.gone = []sampledata.GoroutineID{g}
			}
			for _, g := range alive {
				states[g] = s.at(selects, "bus/lib.deliver", "bus/lib.awaitAck")
			}
			s.sample(t, states)
			s.gone = nil
		}
		a := s.find(t)
		i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Class == "go:main.publish" })
		if i < 0 {
			t.Fatalf("%+v %+v", a.Findings, a.Hypotheses)
		}
		causes := a.Findings[i].Causes
		named := len(causes) == 1 && causes[0].Certainty == Meanwhile && causes[0].Place.Function == "bus/lib.awaitAck"
		if named != c.named {
			t.Errorf("of goroutines that live for %d samples: %+v", c.lives, causes)
		}
	}
}
