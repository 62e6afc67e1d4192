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
		little   bool
		want     string
	}{
		{"main.parse", runs, false, "main.parse"},
		{"main.save", sampledata.State{Run: sampledata.Detached}, false, "main.save"},
		{"main.parse", selects, false, ""},
		{"main.parse", runs, true, ""},
	} {
		s := newScene()
		all, every := s.spawn(2, "main.worker"), 20
		if c.little {
			every = 200
		}
		s.samples(t, 600, func(i int) {
			s.all(all, s.at(sleeps, "main.worker"))
			s.some(i, every, all, s.at(c.state, "main.worker", "main.handle", c.function, "strings.Index"))
			s.some(i+5, 10*every, all, s.at(runs, "main.worker", "main.handle"))
		})
		a := s.find(t)
		if got := a.Work; (got == nil) != (c.want == "") || got != nil && (got.Function != c.want || !nearly(got.Share, 0.9) && got.Share < 0.9 || got.Active > 0.06) {
			t.Errorf("%+v: %s: %+v", c, a.State, got)
		}
		r := s.Recording()
		if both := fixture.Must(Compare(r, r, configured()))(t); both.Work != nil {
			t.Errorf("beside itself: %+v", both.Work)
		}
	}
}
