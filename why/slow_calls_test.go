package why

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calls"
)

// A tardy is a scene in which eight goroutines make a call of 40
// ms again and again, each in its turn. If some are slow, every
// 100th takes 260 ms, since it waits for a lock that a sleeping
// goroutine holds.
type tardy struct {
	slow   bool
	timed  bool // the calls are, too
	pauses bool // the sampler does, once
	again  bool // a slow call waits for the lock twice
}

func (c tardy) scene(t *testing.T) *scene {
	t.Helper()
	const workers, samples = 8, 6000
	s := newScene()
	workerIDs, holder := s.spawn(workers, "main.serve"), s.spawn(1, "main.refresh")[0]
	holds := s.HolderSet([]sampledata.GoroutineID{holder})
	handles, idle := s.at(runs, "main.serve", "main.handle"), s.at(idles, "main.serve")
	waits := s.at(sampledata.State{Run: sampledata.Blocked, Reason: "sync.Mutex.Lock", Lock: 0x100, Holders: holds,
		Evidence: sampledata.Inferred}, "main.serve", "main.handle", "main.get")
	left, made := make([]int, workers), 0
	var begun [workers]time.Duration
	table := sampledata.CallTable{Function: "main.handle", Windows: []sampledata.CallWindow{{To: samples * 20 * time.Millisecond}}}
	for i := range samples {
		s.is[holder] = s.at(sampledata.State{Run: sampledata.Waiting, Reason: "sleep"}, "main.refresh", "main.reload")
		for w, g := range workerIDs {
			if left[w]--; left[w] < -2 && i%workers == w {
				made++
				if left[w] = 2; c.slow && made%96 == 0 {
					left[w] = 13
				}
				begun[w] = s.now + 10*time.Millisecond
			}
			switch {
			case left[w] > 2 && !(c.again && left[w] == 8):
				s.is[g] = waits
			case left[w] > 0:
				s.is[g] = handles
			default:
				if left[w] == 0 {
					table.Calls = append(table.Calls, sampledata.TimedCall{Goroutine: int64(w + 1), Begin: begun[w], End: s.now + 10*time.Millisecond})
				}
				s.is[g] = idle
			}
		}
		if c.pauses && i == samples/2 {
			s.now += 500 * time.Millisecond
		}
		s.sample(t)
	}
	if c.timed {
		s.Calls(table)
		s.sample(t, nil)
	}
	return s
}

func TestSlowCalls(t *testing.T) {
	for _, c := range []tardy{{}, {timed: true}, {pauses: true}, {again: true}} {
		if a := c.scene(t).find(t); slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Kind == SlowKind }) {
			t.Errorf("%+v: a finding of slow calls, though all are fast", c)
		}
		c.slow = true
		a := c.scene(t).find(t)
		i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Kind == SlowKind })
		if i < 0 {
			t.Fatalf("%+v: no finding of slow calls among %d, the first is %+v", c, len(a.Findings), a.Findings[0])
		}
		s := a.Findings[i].Slow
		if s.Function != "main.handle" && s.Function != "main.serve" || s.Least < 200*time.Millisecond || s.Usual > 80*time.Millisecond ||
			s.More.Kind != calls.HeldBy || s.More.Class != "go:main.refresh" || (s.Source == calls.Uprobes) != c.timed ||
			s.Period == 0 && !c.pauses || s.Several != c.again {
			t.Errorf("%+v: %+v", c, s)
		}
	}
}

func TestPeriod(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		times []time.Duration
		want  time.Duration
	}{
		{[]time.Duration{0, 2 * s, 4 * s, 6 * s}, 2 * s},
		{[]time.Duration{6 * s, 6*s + 10, 2 * s, 20, 4*s - s/10, 0}, 2*s - s/10 + 0},
		{[]time.Duration{0, 2 * s, 4 * s, 9 * s}, 0},
		{[]time.Duration{0, 2 * s, 4 * s}, 0},
	} {
		if got := period(c.times, s); got < c.want-s/5 || got > c.want+s/5 || (got == 0) != (c.want == 0) {
			t.Errorf("%v have the period %v, want %v", c.times, got, c.want)
		}
	}
}

// Goroutines of which each waits for one thing, as those of
// timers do, are no slow calls.
func TestTimersAreNoSlowCalls(t *testing.T) {
	for _, inner := range []string{"", "main.load"} {
		s := newScene()
		var one sampledata.GoroutineID
		left := 0 // samples until it ends
		for i := range 90 {
			if left--; left <= 0 {
				if i > 0 {
					s.gone = append(s.gone, one)
				}
				one, left = s.spawn(1, "main.start.func1")[0], 1
				if len(s.goroutines)%3 == 0 {
					left = 10
				}
			}
			state := s.at(sampledata.State{Run: sampledata.Waiting, Reason: "select"}, "main.start.func1")
			if inner != "" || i%7 == 0 {
				state = s.at(runs, strings.Fields("main.start.func1 "+inner)...)
			}
			s.sample(t, states{one: state})
		}
		if a := s.find(t); (a.Few != nil) != (inner != "") {
			t.Errorf("%q: %s: few slow calls %+v", inner, a.State, a.Few)
		}
	}
}

// Calls that are in one sample each are not slow where samples
// are further apart.
func TestShortCallsAreNotSlow(t *testing.T) {
	s := newScene()
	for i := range 400 {
		if i > 300 {
			s.now += 60 * time.Millisecond
		}
		states := map[sampledata.GoroutineID]sampledata.State{}
		if i%3 == 0 {
			g := s.spawn(1, "main.handle")[0]
			states[g] = s.at(runs, "main.handle", "main.parse")
			if i > 300 {
				states[g] = s.at(sleeps, "main.handle", "main.pause")
			}
			s.sample(t, states)
			s.gone = []sampledata.GoroutineID{g}
			continue
		}
		s.sample(t, states)
	}
	if a := s.find(t); a.Few != nil || slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Slow != nil }) {
		t.Errorf("%+v %+v", a.Few, a.Findings)
	}
}

// If the sampler pauses while all are in a call of one sample,
// these are the longest calls, but not what is slow.
func TestPauseInShortCalls(t *testing.T) {
	const samples, middle = 3000, 1500
	s := newScene()
	all := s.spawn(12, "main.serve")
	left, long, made := make([]int, len(all)), make([]bool, len(all)), 0
	for i := range samples {
		for w, g := range all {
			if left[w]--; left[w] < -2 && i%len(all) == w && (i < middle-30 || i > middle+3) {
				made++
				if left[w], long[w] = 3, made%5 == 0; long[w] {
					left[w] = 12 + made%37
				}
			}
			s.is[g] = s.at(idles, "main.serve")
			switch {
			case i == middle:
				s.is[g] = s.at(reads, "main.serve", "main.handle", "main.load", "net.(*conn).Read")
			case left[w] > 0 && long[w]:
				s.is[g] = s.at(runs, "main.serve", "main.handle", "main.big")
			case left[w] > 0:
				s.is[g] = s.at(runs, "main.serve", "main.handle")
			}
		}
		if i == middle || i == middle+1 {
			s.now += 2 * time.Second
		}
		s.sample(t)
	}
	for _, f := range s.find(t).Findings {
		if f.Slow != nil && (f.Slow.More.Function == "main.load" || f.Slow.Least > time.Second) {
			t.Errorf("%+v", f.Slow)
		}
	}
}

// Of calls in one sample each, those are not slow after which the
// sampler paused, though one in two samples is known to be longer.
func TestPausesOfTheSamplerAreNotSlow(t *testing.T) {
	table := &calls.Table{Source: calls.Samples}
	const ms = time.Millisecond
	for i := range int32(6) {
		c := calls.Call{First: 10 * i, Last: 10 * i, End: 10 * ms, Took: calls.Range{Most: 20 * ms}}
		switch i {
		case 0: // in two samples
			c.Last, c.Took.Least = c.Last+1, 5*ms
		case 1, 2, 3: // before a pause
			c.End, c.Took.Most = 200*ms, 300*ms
		}
		table.Calls = append(table.Calls, c)
	}
	if from := seenLong(table); from <= 200*ms {
		t.Errorf("calls are slow from %v on", from)
	}
}
