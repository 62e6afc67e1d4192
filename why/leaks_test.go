package why

import (
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// Goroutines that become more and more leak, also if most samples are of one part of the time.
func TestLeakWithUnevenSamples(t *testing.T) {
	s := newScene()
	dispatcher := s.spawn(1, "main.dispatcher")[0]
	for i := range 100 {
		states := map[sampledata.GoroutineID]sampledata.State{dispatcher: s.at(sleeps, "main.dispatcher")}
		if i >= 60 { // forty samples of two thirds of the time
			s.now += 100 * time.Millisecond
		}
		for len(s.goroutines) < 2+int(s.now/(20*time.Millisecond)) {
			states[s.spawn(1, "main.request")[0]] = s.at(sends, "main.request", "main.answer")
		}
		s.sample(t, states)
	}
	a := s.find(t)
	if len(a.Findings) != 1 || a.Findings[0].Kind != LeakKind || a.Findings[0].Class != "go:main.request" {
		t.Fatalf("%s: %+v", a.State, a.Findings)
	}
}

// Goroutines that become more and more while each sleeps once may leak: nothing ends a sleep. Workers that
// poll sleep again and again.
func TestLeakOfSleepers(t *testing.T) {
	for _, polls := range []bool{false, true} {
		s := newScene()
		for i := range 100 {
			states := map[sampledata.GoroutineID]sampledata.State{s.spawn(1, "main.timeout")[0]: s.at(sleeps, "main.timeout")}
			for j, g := range s.goroutines[:i] {
				if polls && (i+j)%7 == 0 {
					states[g] = s.at(idles, "main.timeout")
				} else {
					states[g] = s.at(sleeps, "main.timeout")
				}
			}
			s.sample(t, states)
		}
		a := s.find(t)
		leaks := slices.ContainsFunc(a.Findings, func(f *Finding) bool {
			return f.Kind == LeakKind && !f.Growth.Probable() && f.Remedy != LeakKind.row().Remedy
		})
		if leaks == polls {
			t.Errorf("polls %t: %+v", polls, a.Findings)
		}
	}
}

// What else is known of a leak makes it probable: that nobody is at the other end, and how long they wait.
func TestProbableLeak(t *testing.T) {
	for _, served := range []bool{false, true} {
		s := newScene()
		server := s.spawn(1, "main.server")[0]
		for i := range 100 {
			states := map[sampledata.GoroutineID]sampledata.State{server: s.at(sleeps, "main.server")}
			wait := s.at(sends, "main.request", "main.answer")
			if served {
				states[server] = s.at(sampledata.State{Run: sampledata.Waiting, Reason: "chan receive",
					Lock: wait.Lock}, "main.server")
			}
			if i%2 == 0 {
				states[s.spawn(1, "main.request")[0]] = wait
			}
			for _, g := range s.goroutines[1:] {
				states[g] = wait
			}
			s.sample(t, states)
		}
		r := s.Recording()
		r.Marking = &sampledata.Marking{Groups: []sampledata.MarkedGroup{{Waited: 2 * time.Minute,
			IDs: []int64{r.Goroutines.At(s.goroutines[1]).ID}}}}
		for _, marked := range []bool{true, false} {
			if !marked {
				r.Marking = nil
			}
			a, err := Find(r, configured())
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Kind == LeakKind })
			if i < 0 {
				t.Fatalf("served %v: %+v", served, a.Findings)
			}
			if g := a.Findings[i].Growth; g.Alone == served || (g.Waited == 2*time.Minute) != marked {
				t.Errorf("served %v, marked %v: %+v", served, marked, g)
			}
		}
	}
}
