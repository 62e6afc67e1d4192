package why

import (
	"slices"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// work makes a recording of workers, of which some compute and
// the others wait for work, and finds what is slow. The number
// of samples in which a worker computes is given by its number;
// its label is that of its number, too.
func work(t *testing.T, workers, samples int, computes func(worker, sample int) bool, label func(worker int) string) *Finding {
	t.Helper()
	s := newScene()
	all := s.spawn(workers, "main.worker")
	for i := range samples {
		for j, g := range all {
			state := s.at(idles, "main.worker")
			if computes(j, i) {
				state = s.at(runs, "main.worker", "main.crunch")
				state.Labels = s.LabelSet([]sampledata.Label{{Key: "tenant", Value: label(j)}})
			}
			s.is[g] = state
		}
		s.sample(t)
	}
	a := s.find(t)
	if len(a.Findings) == 0 || a.Findings[0].Where.Function != "main.crunch" {
		t.Fatalf("%s: %+v", a.State, a.Findings)
	}
	return a.Findings[0]
}

func TestWhoStandsOut(t *testing.T) {
	own := func(worker int) string { return string(rune('a' + worker)) }
	// One of twenty computes all the time, and the others in turn.
	f := work(t, 20, 200, func(w, i int) bool { return w == 7 || i%10 == 0 && w == i/10%20 }, own)
	if f.Outliers == nil || !slices.Equal(f.Outliers.Goroutines, []int64{8}) || f.Outliers.Count != 1 || f.Outliers.Of != 20 || f.Outliers.Share < 0.85 || f.Outliers.Share > 0.95 {
		t.Errorf("few: %+v, want goroutine 8", f.Outliers)
	}
	if f.Label == nil || f.Label.Label != "tenant=h" || f.Label.Life > 0.06 {
		t.Errorf("label: %+v, want tenant=h", f.Label)
	}
	// All compute in turn, most of them for one tenant.
	f = work(t, 20, 200, func(w, i int) bool { return w == i%20 || w == (i+3)%20 }, func(w int) string {
		if w%10 == 3 {
			return "other"
		}
		return "acme"
	})
	if f.Outliers != nil || f.Label == nil || f.Label.Label != "tenant=acme" {
		t.Errorf("few: %+v, label: %+v, want nobody, and tenant=acme", f.Outliers, f.Label)
	}
	// All compute in turn, each for a tenant of its own; or
	// there are too few to stand out.
	if f = work(t, 20, 200, func(w, i int) bool { return w == i%20 || w == (i+3)%20 }, own); f.Outliers != nil || f.Label != nil {
		t.Errorf("few: %+v, label: %+v, want nobody", f.Outliers, f.Label)
	}
	if f = work(t, 4, 200, func(w, i int) bool { return w == 1 || w == 2 }, own); f.Outliers != nil || f.Label != nil {
		t.Errorf("few: %+v, label: %+v, want nobody: half of a class of four computes", f.Outliers, f.Label)
	}
	// One of four does, as one consumer of a slow partition; of
	// two, one is no exception.
	for workers, want := range map[int]bool{4: true, 2: false} {
		f = work(t, workers, 200, func(w, i int) bool { return w == 1 || i%20 == 0 && w == 0 }, own)
		if (f.Outliers != nil) != want {
			t.Errorf("one of %d: %+v", workers, f.Outliers)
		}
	}
	// Half of them compute for one tenant, but in few samples.
	if f = work(t, 20, 60, func(w, i int) bool { return w < 4 && i%5 == 0 }, func(int) string { return "acme" }); f.Outliers != nil || f.Label != nil {
		t.Errorf("few: %+v, label: %+v, want nobody: it is seen in 12 samples", f.Outliers, f.Label)
	}
	// One of twenty was seen to compute in few samples.
	if f = work(t, 20, 18, func(w, i int) bool { return w == 7 }, own); f.Outliers != nil || f.Label != nil {
		t.Errorf("few: %+v, label: %+v, want nobody: there are 18 samples", f.Outliers, f.Label)
	}
}

// Of goroutines that live for a sample or two, none stands out,
// though most of them are never seen to compute.
func TestShortLivesDoNotStandOut(t *testing.T) {
	s := newScene()
	server := s.spawn(1, "main.main")[0]
	s.samples(t, 300, func(i int) {
		s.is[server] = s.at(idles, "main.main")
		for j, g := range s.spawn(10, "main.request") {
			s.is[g] = s.at(sleeps, "main.request", "main.pause")
			if j == i%10 {
				s.is[g] = s.at(runs, "main.request", "main.crunch")
			}
		}
		s.gone = slices.Clone(s.goroutines[max(1, len(s.goroutines)-20) : len(s.goroutines)-10])
	})
	a := s.find(t)
	if len(a.Findings) == 0 || a.Findings[0].Where.Function != "main.crunch" {
		t.Fatalf("%s: %+v", a.State, a.Findings)
	}
	if f := a.Findings[0]; f.Outliers != nil {
		t.Errorf("few: %+v, want nobody", f.Outliers)
	}
}
