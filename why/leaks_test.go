package why

import (
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// Goroutines that become more and more leak, also if most
// samples are of one part of the time.
func TestLeakWithUnevenSamples(t *testing.T) {
	s := newScene()
	dispatcher := s.spawn(1, "main.dispatcher")[0]
	s.samples(t, 100, func(i int) {
		s.is[dispatcher] = s.at(sleeps, "main.dispatcher")
		if i >= 60 { // forty samples of two thirds of the time
			s.now += 100 * time.Millisecond
		}
		for len(s.goroutines) < 2+int(s.now/(20*time.Millisecond)) {
			s.is[s.spawn(1, "main.request")[0]] = s.at(sends, "main.request", "main.answer")
		}
	})
	a := s.find(t)
	if len(a.Findings) != 1 || a.Findings[0].Kind != LeakKind || a.Findings[0].Class != "go:main.request" {
		t.Fatalf("%s: %+v", a.State, a.Findings)
	}
}

// Goroutines that become more and more while each sleeps once
// may leak: nothing ends a sleep. Workers that poll sleep again
// and again.
func TestLeakOfSleepers(t *testing.T) {
	for _, polls := range []bool{false, true} {
		s := newScene()
		s.samples(t, 100, func(i int) {
			s.is[s.spawn(1, "main.timeout")[0]] = s.at(sleeps, "main.timeout")
			for j, g := range s.goroutines[:i] {
				if polls && (i+j)%7 == 0 {
					s.is[g] = s.at(idles, "main.timeout")
				} else {
					s.is[g] = s.at(sleeps, "main.timeout")
				}
			}
		})
		a := s.find(t)
		leaks := slices.ContainsFunc(a.Findings, func(f *Finding) bool {
			return f.Kind == LeakKind && !f.Growth.Probable() && f.Remedy != LeakKind.row().Remedy
		})
		if leaks == polls {
			t.Errorf("polls %t: %+v", polls, a.Findings)
		}
	}
}

// Every third request of a class never comes back from where it
// waits, though the others end. If those that wait there go on
// in the end, it is no leak.
func TestLeakAmongOthers(t *testing.T) {
	for _, ends := range []bool{false, true} {
		s := newScene()
		s.samples(t, 200, func(i int) {
			s.is[s.spawn(1, "main.request")[0]] = s.at(runs, "main.request")
			for j, g := range s.goroutines[:i] {
				if j%3 == 0 && !(ends && i-j >= 60) {
					s.is[g] = s.at(sends, "main.request", "main.answer")
				}
				if i-j == 2 && j%3 != 0 || ends && j%3 == 0 && i-j == 60 {
					s.gone = append(s.gone, g)
				}
			}
		})
		a := s.find(t)
		leaks := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Kind == LeakKind && f.Growth.OthersEnd })
		if leaks == ends {
			t.Errorf("they end %t: %+v", ends, a.Findings)
		}
	}
}

// Sessions that become more and more, and do something again and
// again, don't leak.
func TestSessionsThatGoOn(t *testing.T) {
	for _, move := range []bool{false, true} {
		s := newScene()
		s.samples(t, 200, func(i int) {
			s.is[s.spawn(1, "main.session")[0]] = s.at(selects, "main.session")
			s.all(s.goroutines[:i], s.at(selects, "main.session"))
			s.those(s.goroutines[:i], func(j int) bool { return move && (i+j)%7 == 0 },
				s.at(runs, "main.session", "main.send"))
		})
		a := s.find(t)
		leaks := slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Kind == LeakKind })
		if leaks == move {
			t.Errorf("they move %t: %+v", move, a.Findings)
		}
	}
}

// What else is known of a leak makes it probable: that nobody is
// at the other end, and how long they wait.
func TestProbableLeak(t *testing.T) {
	for _, served := range []bool{false, true} {
		s := newScene()
		server := s.spawn(1, "main.server")[0]
		s.samples(t, 100, func(i int) {
			s.is[server] = s.at(sleeps, "main.server")
			wait := s.at(sends, "main.request", "main.answer")
			if served {
				s.is[server] = s.at(sampledata.State{Run: sampledata.Waiting, Reason: "chan receive",
					Lock: wait.Lock}, "main.server")
			}
			s.sometimes(i, 2, s.spawn(1, "main.request")[0], wait)
			s.all(s.goroutines[1:], wait)
		})
		r := s.Recording()
		r.Marking = &sampledata.Marking{Groups: []sampledata.MarkedGroup{{Waited: 2 * time.Minute,
			IDs: []int64{r.Goroutines.At(s.goroutines[1]).ID}}}}
		for _, marked := range []bool{true, false} {
			if !marked {
				r.Marking = nil
			}
			a := fixture.Must(Find(r, configured()))(t)
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

// A connection of HTTP that is kept has two goroutines, and one of
// its server, which may be in the program itself: they are one leak,
// and a way of their own to end it.
func TestLeakOfConnections(t *testing.T) {
	const tooMany = -1
	loops := []string{"net/http.(*persistConn).readLoop", "net/http.(*persistConn).writeLoop", "net/http.(*conn).serve"}
	for _, own := range []int64{0, 5, tooMany} {
		s := newScene()
		m := sampledata.Monitor{Name: ownConnections, Layer: sampledata.Kernel, Kind: sampledata.Level}
		if own == tooMany {
			m.Unmeasured = "there are more than 1024 open files"
		}
		connections := s.Monitor(m)
		s.samples(t, 80, func(int) {
			for _, loop := range loops {
				s.spawn(1, loop)
			}
			for i, g := range s.goroutines {
				s.is[g] = s.at(selects, loops[i%3])
			}
			if own != tooMany {
				s.Measure(connections, sampledata.Number(own))
			}
		})
		a := s.find(t)
		i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Class == clientReads })
		if i < 0 || len(a.Findings[i].Signs) != 1 || a.Findings[i].Remedy == LeakKind.row().Remedy || (len(a.Findings) == 1) != (own != 0) {
			t.Errorf("%d own connections: %+v", own, a.Findings)
		}
	}
}

// Goroutines that wait for a lock may become more and more
// though each gets it in the end.
func TestWaitersThatBecomeMore(t *testing.T) {
	for grows := range 2 {
		s := newScene()
		holder := s.spawn(1, "main.deliver")[0]
		locked := blocked
		locked.Lock, locked.Holders = 0x200, s.HolderSet([]sampledata.GoroutineID{holder})
		var waiters []sampledata.GoroutineID
		s.samples(t, 120, func(i int) {
			waiters = append(waiters, s.spawn(1+grows, "main.send")...)
			if i >= 20 {
				s.gone, waiters = waiters[:1], waiters[1:]
			}
			s.is[holder] = s.at(selects, "main.deliver")
			s.all(waiters, s.at(locked, "main.send"))
		})
		f := s.find(t).Findings[0]
		if f.Kind != LockKind || (f.Growth != nil) != (grows == 1) {
			t.Errorf("%d more a sample: %s: %+v", grows, f.Kind, f.Growth)
		}
	}
}

// The sampler leaves out the channels of timers: who waits for
// one that is not known, while others' are, may wait for a
// timer.
func TestLeakOfTimers(t *testing.T) {
	for known, want := range map[uint64]bool{0: true, 0x300: false} {
		s := newScene()
		worker := s.spawn(1, "main.work")[0]
		s.samples(t, 100, func(i int) {
			other, waits := s.at(idles, "main.work"), s.at(idles, "main.expire")
			if other.Lock, waits.Lock = 0x100, known; i%10 == 0 {
				other = s.at(runs, "main.work")
			}
			s.is[worker], s.is[s.spawn(1, "main.expire")[0]] = other, waits
			s.all(s.goroutines[1:], waits)
		})
		f := s.find(t).Findings[0]
		if f.Kind != LeakKind || (f.Remedy == endsEarlier) != want {
			t.Errorf("channel %#x: %s: %q %q", known, f.Kind, f.Signs, f.Remedy)
		}
	}
}

// As many goroutines of a client's connections and of a server's are
// the two ends of the same.
func TestGrowNearly(t *testing.T) {
	reads := &Growth{From: 780, To: 1481}
	for other, want := range map[*Growth]bool{{From: 778, To: 1481}: true, {From: 780, To: 1200}: false, {From: 20, To: 1481}: false, nil: false} {
		if got := reads.near(other); got != want {
			t.Errorf("%+v: %t", other, got)
		}
	}
}

// Goroutines that leak beside a deadlock, in one function, but wait
// for something else are not behind it.
func TestLeakBesideADeadlock(t *testing.T) {
	s := newScene()
	dead, more := s.spawn(2, "main.handle"), s.spawn(60, "main.handle")
	x, y := blocked, blocked
	x.Lock, x.Holders = 0x200, s.HolderSet(dead[1:])
	y.Lock, y.Holders = 0x300, s.HolderSet(dead[:1])
	s.samples(t, 300, func(i int) {
		s.is[dead[0]] = s.at(x, "main.handle", "sync.(*Mutex).Lock")
		s.is[dead[1]] = s.at(y, "main.handle", "sync.(*Mutex).Lock")
		s.those(more, func(j int) bool { return i >= 5*j }, s.at(sends, "main.handle"))
	})
	kinds := make(map[Kind]*Finding)
	for _, f := range s.find(t).Findings {
		kinds[f.Kind] = f
	}
	if kinds[LeakKind] == nil || kinds[DeadlockKind] == nil || kinds[DeadlockKind].Growth != nil {
		t.Errorf("%+v", kinds)
	}
}

// Who waits for a lock of a deadlock waits for ever, too, in whatever
// class, and does not rest.
func TestBehindADeadlock(t *testing.T) {
	for _, seems := range []bool{false, true} {
		s := newScene()
		dead, more, cleaner := s.spawn(2, "main.handle"), s.spawn(2, "main.handle"), s.spawn(1, "main.clean")
		x, y := blocked, blocked
		x.Lock, x.Holders = 0x200, s.HolderSet(dead[1:])
		y.Lock, y.Holders = 0x300, s.HolderSet(dead[:1])
		if seems {
			x.Evidence, x.Holders = sampledata.Ambiguous, s.HolderSet(dead[:1])
			y = x
		}
		s.samples(t, 300, func(int) {
			s.is[dead[0]] = s.at(x, "main.handle", "sync.(*Mutex).Lock")
			s.is[dead[1]] = s.at(y, "main.handle", "sync.(*Mutex).Lock")
			s.all(more, s.at(x, "main.handle", "main.read", "sync.(*Mutex).Lock"))
			s.all(cleaner, s.at(x, "main.clean", "sync.(*Mutex).Lock"))
		})
		a := s.find(t)
		i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Kind == DeadlockKind && f.Likely == seems })
		want := []Part{{Name: "go:main.handle", Share: 0.5}, {Name: "go:main.clean", Share: 1}}
		if seems {
			want[0].Share = 0.75
		}
		if i < 0 || !slices.EqualFunc(a.Findings[i].Behind, want, func(p, q Part) bool { return p.Name == q.Name && nearly(p.Share, q.Share) }) {
			t.Fatalf("seems %t: %+v, want those behind it: %+v", seems, a.Findings, want)
		}
		if slices.ContainsFunc(a.Resting, func(r Resting) bool { return r.Class == "go:main.clean" }) {
			t.Errorf("seems %t: it rests: %+v", seems, a.Resting)
		}
	}
}
