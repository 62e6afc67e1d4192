package why

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/refine/hotspots"
)

// What happens seldom, at random, does not happen only at some times.
func TestChanceIsNoChange(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, p := range []float64{0.1, 0.3, 0.5, 0.9} {
		const rounds = 500
		changed := 0
		for range rounds {
			all := make([]hotspots.Observation, 60)
			for i := range all {
				all[i] = hotspots.Observation{Weight: 1, Base: 1}
				if random.Float64() < p {
					all[i].Hits = 1
				}
			}
			if len(binned(all).changes()) > 0 {
				changed++
			}
		}
		if changed > rounds/20 {
			t.Errorf("of what happens with probability %v, %d of %d series change", p, changed, rounds)
		}
	}
}

// A level begins with the first hit in it, and ends with the last one.
func TestLevelsAreTrimmed(t *testing.T) {
	all := make([]hotspots.Observation, 20)
	for i := range all {
		all[i] = hotspots.Observation{Weight: 1, Base: 1}
		if i >= 6 && i < 11 {
			all[i].Hits = 1
		}
	}
	l := level{from: 4, to: 15}
	if l.trim(all); l.from != 6 || l.to != 11 {
		t.Errorf("%+v", l)
	}
}

// What has a third of its highest share elsewhere is not only then.
func TestLowLevels(t *testing.T) {
	for share, want := range map[int]int{3: 1, 10: 2} {
		all := make([]hotspots.Observation, 240)
		for i := range all {
			all[i] = hotspots.Observation{Weight: 1, Base: 1}
			if i/60%2 == 0 || i%share == 0 {
				all[i].Hits = 1
			}
		}
		if got := binned(all).levels(); len(got) != want {
			t.Errorf("one of %d elsewhere: %+v", share, got)
		}
	}
}

// What is always true of those that are at work is not true all the time
// if often nobody is. Bursts have a period, too.
func TestWhenNobodyIsAtWork(t *testing.T) {
	for _, c := range []struct {
		burst, of int // samples
		present   float64
		period    time.Duration
	}{{8, 40, 0.2, 800 * time.Millisecond}, {5, 22, 5. / 22, 440 * time.Millisecond}, {40, 40, 0, 0}} {
		s := newScene()
		all := s.spawn(4, "main.worker")
		s.samples(t, 800, func(i int) {
			if s.all(all, s.at(idles, "main.worker")); i%c.of < c.burst {
				s.all(all, s.at(selects, "main.worker", "main.handle", "main.ask", "net/http.(*persistConn).roundTrip"))
			}
			if i%c.of < c.burst {
				s.some(i, 20, all, s.at(runs, "main.worker", "main.handle"))
			}
		})
		a := s.find(t)
		if len(a.Findings) == 0 {
			t.Errorf("%+v: nothing found", c)
			continue
		}
		w := a.Findings[0].When
		if !w.Always || !nearly(w.Present, c.present) && w.Present != c.present || w.Period < c.period*98/100 || w.Period > c.period*102/100 {
			t.Errorf("%+v: %+v", c, w)
		}
	}
}

// What is high while garbage is collected is mostly then if that is most of
// it.
func TestWhileCollecting(t *testing.T) {
	for every, want := range map[int]bool{2: true, 10: false} { // samples with a collection
		s := newScene()
		loaders := s.spawn(2, "main.loader")
		s.samples(t, 600, func(i int) {
			s.collecting = i%every == 0
			if s.all(loaders, s.at(idles, "main.loader")); s.collecting || i%5 == 1 {
				s.all(loaders, s.at(runs, "main.loader", "main.load"))
			}
		})
		f := s.find(t).Findings
		i := slices.IndexFunc(f, func(f *Finding) bool { return f.Where.Function == "main.load" })
		if i < 0 || f[i].When.Collecting != want {
			t.Errorf("a collection in every %d: %+v", every, f)
		}
	}
}
