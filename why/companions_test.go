package why

import (
	"math/rand/v2"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// A monitor that goes with what is slow only at times is named,
// and one that does not is not.
func TestMonitorsThatGoWithAFinding(t *testing.T) {
	s := newScene()
	all := s.spawn(3, "main.worker")
	depth := s.Monitor(sampledata.Monitor{Name: "queue.depth", Layer: sampledata.Application, Kind: sampledata.Level})
	noise := s.Monitor(sampledata.Monitor{Name: "noise", Layer: sampledata.Application, Kind: sampledata.Level})
	s.samples(t, 300, func(i int) {
		rebuilds := i >= 60 && i < 120 || i >= 200 && i < 240
		s.all(all, s.at(idles, "main.worker"))
		if rebuilds {
			s.all(all, s.at(runs, "main.worker", "main.rebuild"))
		}
		s.Measure(noise, sampledata.Number(int64(i*7919%13)))
		s.Measure(depth, sampledata.Number(int64(i%3)))
		if rebuilds {
			s.Measure(depth, sampledata.Number(int64(50+i%5)))
		}
	})
	a := s.find(t)
	if len(a.Findings) != 1 {
		t.Fatalf("%s: %+v", a.State, a.Findings)
	}
	f := a.Findings[0]
	if len(f.When.Spans) != 2 {
		t.Errorf("it is true at %+v, want two spans", f.When)
	}
	if len(f.With) != 1 || f.With[0].Monitor != "queue.depth" || f.With[0].R < 0.9 {
		t.Errorf("it goes with %+v, want queue.depth", f.With)
	}
}

// A monitor that only rises goes with all that begins late.
func TestMonitorsThatOnlyRise(t *testing.T) {
	for _, falls := range []bool{false, true} {
		s := newScene()
		all := s.spawn(3, "main.worker")
		random := rand.New(rand.NewPCG(1, 2))
		level := s.Monitor(sampledata.Monitor{Name: "level", Layer: sampledata.Application, Kind: sampledata.Level})
		s.samples(t, 300, func(i int) {
			s.all(all, s.at(idles, "main.worker"))
			value := 0
			if i >= 150 {
				value = 9
				if random.IntN(5) > 0 {
					s.all(all, s.at(runs, "main.worker", "main.rebuild"))
				}
			}
			if falls && i == 250 {
				value = 8
			}
			s.Measure(level, sampledata.Number(int64(value)))
		})
		if f := s.find(t).Findings; len(f) != 1 || (len(f[0].With) == 1) != falls {
			t.Errorf("falls %t: %+v", falls, *f[0])
		}
	}
}
