package why

import (
	"testing"
	"time"
)

// Waits that all take as long may end by a deadline. Those of other
// lengths do not, nor those that somebody is known to end.
func TestWaitsOfOneLength(t *testing.T) {
	for _, other := range []int{0, 9} {
		s := newScene()
		all := s.spawn(5, "main.fetch")
		s.samples(t, 200, func(i int) {
			for j, g := range all {
				length := 50 + other*(j%2)
				if s.is[g] = s.at(reads, "main.fetch", "db/lib.(*Conn).Query", "net.(*conn).Read"); (i+7*j)%length == 0 {
					s.is[g] = s.at(runs, "main.fetch")
				}
			}
		})
		f := s.find(t).Findings
		if len(f) != 1 || f[0].Kind != IOKind {
			t.Fatalf("%+v", f)
		}
		if got := f[0].Lasts; (got > 960*time.Millisecond && got < 1020*time.Millisecond) != (other == 0) || other > 0 && got != 0 {
			t.Errorf("with %d samples more for some, each takes %v, want 49 samples of 20 ms", other, got)
		}
	}
}

// How long waits take is not known if the sampler pauses at their ends.
func TestWaitsWithUnknownEnds(t *testing.T) {
	s := newScene()
	all := s.spawn(5, "main.fetch")
	s.samples(t, 300, func(i int) {
		s.all(all, s.at(reads, "main.fetch", "db/lib.(*Conn).Query", "net.(*conn).Read"))
		if i%20 == 0 {
			s.all(all, s.at(runs, "main.fetch"))
		}
		if i%20 <= 1 {
			s.now += 40e6
		}
	})
	if f := s.find(t).Findings; len(f) != 1 || f[0].Kind != IOKind || f[0].Lasts != 0 {
		t.Errorf("%+v", f)
	}
}
