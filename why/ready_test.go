package why

import (
	"slices"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// Goroutines that come in bursts wait for the processors, also if these are free most of the time.
func TestBurstsOfReadyGoroutines(t *testing.T) {
	for runningToo, want := range map[int]string{4: "they come in bursts, and then wait for the processors", 0: "there are free processors: they are about to run"} {
		s := newScene()
		all := s.spawn(10, "main.collect")
		for i := range 100 {
			states := map[sampledata.GoroutineID]sampledata.State{}
			for j, g := range all {
				switch {
				case i%10 != 0:
					states[g] = s.at(idles, "main.collect")
				case j < runningToo:
					states[g] = s.at(runs, "main.collect")
				default:
					states[g] = s.at(sampledata.State{Run: sampledata.Runnable}, "main.collect")
				}
			}
			s.sample(t, states)
		}
		a := s.find(t)
		if !slices.ContainsFunc(a.Hypotheses, func(h Hypothesis) bool { return h.Kind == ProcessorKind && h.Note == want }) {
			t.Errorf("%d run, too: %+v", runningToo, a.Hypotheses)
		}
	}
}
