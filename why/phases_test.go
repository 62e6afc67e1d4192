package why

import (
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// crew records six workers. Each has another number in each
// sample, in turn.
func (s *scene) crew(t *testing.T, state func(sample, number int) sampledata.State) {
	all := s.spawn(6, "main.worker")
	s.samples(t, 400, func(i int) {
		for j, g := range all {
			s.is[g] = state(i, (i+j)%6)
		}
	})
}

// A phase in which a few goroutines wait for something is found,
// though it is short.
func TestPhases(t *testing.T) {
	s := newScene()
	s.crew(t, func(i, k int) sampledata.State {
		if i >= 200 && i < 230 && k > 0 {
			return s.at(runs, "main.worker", "main.reindex")
		}
		return s.at(idles, "main.worker")
	})
	a := s.find(t)
	if len(a.Findings) == 0 || a.Findings[0].Where.Function != "main.reindex" {
		t.Fatalf("%s: %+v", a.State, a.Findings)
	}
	w := a.Findings[0].When
	if len(w.Spans) != 1 || w.Spans[0].From < 3800*time.Millisecond || w.Spans[0].To > 4800*time.Millisecond {
		t.Errorf("it is true at %+v, want 4.0 to 4.6 s", w)
	}
}

// What takes half of the processors for fifteen samples of a
// long recording is found, too.
func TestShortPhase(t *testing.T) {
	s := newScene()
	all := s.spawn(2, "main.service")
	for i := range 150 {
		state := s.at(sleeps, "main.service")
		if i >= 70 && i < 85 {
			state = s.at(runs, "main.service", "main.warmUp")
		} else if i%40 == 0 {
			state = s.at(runs, "main.service")
		}
		s.sample(t, states{all[0]: state, all[1]: state})
	}
	a := s.find(t)
	if len(a.Findings) != 1 || a.Findings[0].Where.Function != "main.warmUp" || !a.Findings[0].Phase {
		t.Errorf("%s: %+v", a.State, a.Findings)
	}
}

// A phase of waits is not slower than itself.
func TestPhaseOfWaits(t *testing.T) {
	s := newScene()
	s.crew(t, func(i, k int) sampledata.State {
		switch {
		case i >= 200 && i < 225 && k > 0:
			return s.at(sends, "main.worker", "main.store")
		case k < 4:
			return s.at(runs, "main.worker")
		}
		return s.at(idles, "main.worker")
	})
	a := s.find(t)
	if !slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Phase && f.Kind == ChannelKind }) {
		t.Errorf("%s: %+v", a.State, a.Findings)
	}
}

// A pause that has many samples, but is short, as in an
// execution trace, does not divide the time in which something
// is slow.
func TestShortPause(t *testing.T) {
	s := newScene()
	worker := s.spawn(1, "main.worker")[0]
	for i := range 300 {
		now := s.at(runs, "main.worker", "main.rebuild")
		if i >= 100 && i < 200 {
			now = s.at(idles, "main.worker")
			s.now -= 20*time.Millisecond - 20*time.Microsecond
		}
		s.sample(t, states{worker: now})
	}
	if a := s.find(t); len(a.Findings) != 1 || !a.Findings[0].When.Always {
		t.Errorf("%s: %+v", a.State, a.Findings)
	}
}

// A phase that comes again is said to, though only one was searched.
func TestPhaseAgain(t *testing.T) {
	s := newScene()
	all := s.spawn(4, "main.handler")
	s.samples(t, 500, func(i int) {
		s.all(all, s.at(sleeps, "main.handler"))
		if i%240 >= 90 && i%240 < 120 { // two bursts: the second is more
			s.all(all[:2+2*(i/240)], s.at(runs, "main.handler", "main.reply"))
		}
	})
	f := s.find(t).Findings
	if len(f) != 1 || !f[0].Phase || len(f[0].When.Spans) != 2 || f[0].When.Otherwise != 0 {
		t.Errorf("%+v", f)
	}
}

// The last sample may come late: it is in the span that it ends.
func TestSpanUntilTheEnd(t *testing.T) {
	const samples = 60
	s := newScene()
	all := s.spawn(4, "main.handler")
	s.samples(t, samples, func(i int) {
		s.all(all, s.at(runs, "main.handler"))
		if i >= samples-18 {
			s.all(all, s.at(reads, "main.handler", "main.ask"))
		}
		if i == samples-1 {
			s.now += 60e6
		}
	})
	f := s.find(t).Findings
	at := slices.IndexFunc(f, func(f *Finding) bool { return f.Where.Function == "main.ask" })
	if at < 0 || len(f[at].When.Spans) != 1 || f[at].When.Otherwise != 0 {
		t.Errorf("%+v", f)
	}
}

// What is high in one span, and low at other times, is not only then.
func TestLessAtOtherTimes(t *testing.T) {
	for _, low := range []int{0, 1} {
		s := newScene()
		all := s.spawn(4, "main.handler")
		s.samples(t, 240, func(i int) {
			s.all(all, s.at(runs, "main.handler"))
			n := 4
			if i >= 60 {
				n = low * (i % 2)
			}
			s.all(all[:n], s.at(reads, "main.handler", "main.ask"))
		})
		f := s.find(t).Findings
		at := slices.IndexFunc(f, func(f *Finding) bool { return f.Where.Function == "main.ask" })
		if at < 0 || len(f[at].When.Spans) != 1 || (f[at].When.Otherwise > 0) != (low > 0) {
			t.Errorf("with %d at other times: %+v", low, f)
		}
	}
}
