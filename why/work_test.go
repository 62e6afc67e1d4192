package why

import (
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// What a program that is not slow mostly does is said, but not what may be
// a wait for work.
func TestWork(t *testing.T) {
	for _, c := range []struct {
		function string
		state    sampledata.State
		every    int // samples
		want     string
	}{
		{"main.parse", runs, 20, "main.parse"},
		{"main.save", sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}, 4, "main.save"},
		{"main.parse", selects, 20, ""},
		{"main.parse", runs, 200, ""},
	} {
		s := newScene()
		all := s.spawn(2, "main.worker")
		s.samples(t, 600, func(i int) {
			s.all(all, s.at(sleeps, "main.worker"))
			s.some(i, c.every, all, s.at(c.state, "main.worker", "main.handle", c.function, "strings.Index"))
			s.some(i+5, 10*c.every, all, s.at(runs, "main.worker", "main.handle"))
		})
		a := s.find(t)
		if got := a.Work; (got == nil) != (c.want == "") || got != nil && (got.Function != c.want || !nearly(got.Share, 0.9) && got.Share < 0.9 || got.Active > 1.2/float64(c.every)) {
			t.Errorf("%+v: %s: %+v", c, a.State, got)
		}
		r := s.Recording()
		if both := fixture.Must(Compare(r, r, configured()))(t); both.Work != nil {
			t.Errorf("beside itself: %+v", both.Work)
		}
	}
}
