package why

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// asked returns what it would bring if a cost went away.
func (s *scene) asked(t *testing.T, name string, half bool) *Gain {
	t.Helper()
	r := s.Recording()
	fixture.Check(t, r.Check())
	removal := fixture.Must(Without(r, configured(), name, half))(t)
	return removal.Gain
}

func nearly(a, b float64) bool { return math.Abs(a-b) < 0.02*b }

// lockedScene has four workers: one computes under a lock, two
// wait for it, and one computes elsewhere.
func lockedScene(t *testing.T) *scene {
	s := newScene()
	s.spawn(4, "main.worker")
	for i := range 100 {
		g := func(k int) sampledata.GoroutineID { return s.goroutines[(i+k)%4] }
		waits := s.at(blocked, "main.worker", "main.store", "sync.(*Mutex).Lock")
		waits.Lock, waits.Holders = 0x200, s.HolderSet([]sampledata.GoroutineID{g(0)})
		s.sample(t, states{
			g(0): s.at(runs, "main.worker", "main.store", "main.update"), g(1): waits, g(2): waits,
			g(3): s.at(runs, "main.worker", "main.other")})
	}
	return s
}

func (s *scene) lockFinding(t *testing.T) *Finding {
	t.Helper()
	all := s.find(t).Findings
	i := slices.IndexFunc(all, func(f *Finding) bool { return f.Kind == LockKind })
	if i < 0 {
		t.Fatalf("no finding is about a lock: %+v", all)
	}
	return all[i]
}

// Who waits for a lock waits for what its holder does: without
// the code under the lock, three quarters of the time are gone,
// and with half of it three eighths. The lock is always held:
// without code elsewhere, nothing is gained.
func TestGainUnderLock(t *testing.T) {
	s := lockedScene(t)
	g := s.asked(t, "main.update", false)
	if g.Class != "go:main.worker" || g.Law != Closed || !nearly(g.Times.Times, 4) || !nearly(g.Half.Times, 1.6) {
		t.Errorf("without main.update: %+v, %+v", g, g.Times)
	}
	if half := s.asked(t, "main.update", true); !nearly(half.Times.Times, 1.6) || half.Half != nil {
		t.Errorf("without half of main.update: %+v, %+v", half, half.Times)
	}
	if g := s.asked(t, "* ..main.other", false); g.Times.Times != 1 || g.Next.Centre != ALock {
		t.Errorf("without main.other: %+v, %+v", g.Times, g.Next)
	}
	lock := s.lockFinding(t).Lock
	if g := s.asked(t, lock, false); !nearly(g.Times.Times, 2) || g.Next.Centre != Processors || !nearly(g.Under.Times, 4) {
		t.Errorf("without %s: %+v, %+v", lock, g.Times, g.Next)
	}
	if half := s.asked(t, lock, true); half.Half != nil || half.Under != nil {
		t.Errorf("without half of %s: %+v", lock, half)
	}
}

// If the machine has no CPU for who has a processor, other
// programs decide how long others take. A class that only
// computes has the same shares with more CPUs, wherever its threads
// wait for one.
func TestGainOnBusyMachine(t *testing.T) {
	for _, c := range []struct {
		where string // a thread waits for a CPU
		waits bool
	}{{"main.update", false}, {"main.other", false}, {"main.update", true}} {
		s := newScene()
		s.spawn(2, "main.worker")
		for i := range 100 {
			state := s.at(runs, "main.worker", "main.update")
			if i%2 == 0 {
				state = s.at(runs, "main.worker", c.where)
				state.NoCPU = true
			}
			if c.waits && i%4 == 1 {
				state = s.at(reads, "main.worker", "main.fetch", "net.(*conn).Read")
			}
			other := s.at(runs, "main.worker", "main.other")
			if i%2 == 0 {
				other = s.at(runs, "main.worker", []string{"main.update", "main.other"}[i/2%2])
			}
			s.sample(t, states{s.goroutines[i/2%2]: state, s.goroutines[1-i/2%2]: other})
		}
		if g := s.asked(t, "main.other", false); c.waits != (g.Silent != "") || !c.waits && !nearly(g.Times.Times, 2) {
			t.Errorf("%+v, without main.other: %q, %+v", c, g.Silent, g.Times)
		}
	}
}

// Who sleeps does not get more done if others compute less.
func TestGainOfWhoSleeps(t *testing.T) {
	s := newScene()
	workers, reporter := s.spawn(2, "main.worker"), s.spawn(1, "main.report")[0]
	for i := range 100 {
		now := states{reporter: s.at(sleeps, "main.report", "main.pause", "time.Sleep")}
		if i%40 == 20 {
			now[reporter] = s.at(sampledata.State{Run: sampledata.Runnable}, "main.report")
		}
		for _, g := range workers {
			now[g] = s.at(runs, "main.worker", "main.update")
		}
		s.sample(t, now)
	}
	if g := s.asked(t, "main.worker", false); g.Silent == "" {
		t.Errorf("without main.worker: %+v, %+v", g, g.Times)
	}
}

// A lock whose holder sleeps has nothing to do with code that
// computes beside it, whether or not the sleep counts as idle.
func TestGainBesideSleepingHolder(t *testing.T) {
	s := newScene()
	s.spawn(4, "main.locker")
	spinner := s.spawn(1, "main.spinner")[0]
	for i := range 100 {
		g := func(k int) sampledata.GoroutineID { return s.goroutines[(i+k)%4] }
		waits := s.at(blocked, "main.locker", "main.update", "sync.(*Mutex).Lock")
		waits.Lock, waits.Holders = 0x200, s.HolderSet([]sampledata.GoroutineID{g(0)})
		s.sample(t, states{
			g(0): s.at(sleeps, "main.locker", "main.update", "time.Sleep"), g(1): waits, g(2): waits, g(3): waits,
			spinner: s.at(runs, "main.spinner", "main.hash")})
	}
	for _, f := range s.find(t).Findings {
		if f.IsCode() && f.Gain.Times != nil && f.Gain.Times.Times > 1 {
			t.Errorf("%s without %s: %+v", f.Gain.Class, f.Where.Function, f.Gain.Times)
		}
	}
	if g := s.asked(t, s.lockFinding(t).Lock, false); g.Class != "go:main.locker" || !nearly(g.Times.Times, 4) {
		t.Errorf("without the lock: %+v, %+v", g, g.Times)
	}
}

// A finding has the same gain as its lock.
func TestFindingsHaveGains(t *testing.T) {
	s := lockedScene(t)
	f := s.lockFinding(t)
	want := s.asked(t, f.Lock, false)
	if f.Gain == nil || f.Gain.Times == nil || *f.Gain.Times != *want.Times {
		t.Errorf("%+v, want %+v", f.Gain, want)
	}
}

// Handlers of requests that come at random: what is known is how
// long one takes. If a fixed number are at work, it is not known
// who decides that.
func TestGainOfRequests(t *testing.T) {
	for law, active := range map[Law][]int{Open: {0, 8, 0, 0, 2}, Either: {2}} {
		s := newScene()
		s.spawn(10, "main.handler")
		s.samples(t, 200, func(i int) {
			for k := range s.goroutines {
				s.is[s.goroutines[(i+k)%10]] = s.at(idles, "main.handler", "runtime.chanrecv")
				if n := active[i%len(active)]; k < n/2 {
					s.is[s.goroutines[(i+k)%10]] = s.at(runs, "main.handler", "main.parse")
				} else if k < n {
					s.is[s.goroutines[(i+k)%10]] = s.at(reads, "main.handler", "main.fetch", "net.(*conn).Read")
				}
			}
		})
		if g := s.asked(t, "main.fetch", false); g.Law != law || g.Less == nil || !nearly(g.Less.Share, 0.5) || g.Times != nil {
			t.Errorf("%s: %+v, %+v", law, g, g.Less)
		}
	}
}

// What is all that a class does has no gain, and the reason is
// said. A name that nothing has is an error.
func TestGainIsSilent(t *testing.T) {
	s := lockedScene(t)
	if g := s.asked(t, "main.worker", false); g.Silent == "" || g.Times != nil || g.Less != nil {
		t.Errorf("%+v", g)
	}
	for _, name := range []string{"main.nothing", "* ..", "@nothing", ""} {
		if r, err := Without(s.Recording(), configured(), name, false); err == nil {
			t.Errorf("%q: %+v", name, r)
		}
	}
}

// burstScene has goroutines that wait for the same thing, and are all
// ready to run when the wait ends.
func burstScene(t *testing.T) *scene {
	s := newScene()
	all := s.spawn(8, "main.handle")
	s.samples(t, 100, func(i int) {
		s.all(all, s.at(sampledata.State{Run: sampledata.Waiting, Reason: "chan send"}, "main.handle", "main.promote"))
		if i%4 == 0 {
			s.all(all, s.at(sampledata.State{Run: sampledata.Runnable}, "main.handle"))
			s.is[all[i%8]] = s.at(runs, "main.handle", "main.work")
		}
	})
	return s
}

// If there are free processors, those who were ready to run came
// all at once out of the wait, and would not without it.
func TestGainOfBursts(t *testing.T) {
	a := fixture.Must(findIn(burstScene(t).Recording(), configured()))(t)
	g := a.gainWithout(fixture.Must(a.targetNamed("main.promote"))(t), false, nil)
	if g.Times == nil || g.Times.Times < 8 {
		t.Errorf("without the wait: %+v, %+v", g, g.Times)
	}
}

// Who waits for those that wait, too, gains what these wait for.
func TestGainOfWaitsBehindWaits(t *testing.T) {
	for does, silent := range map[Activity]bool{Receiving: true, Joining: true, Computing: false, IO: false, Locked: false} {
		f := newFinding(ChannelKind)
		f.Causes = []Cause{{Class: "go:main.get", Activity: does, Share: 0.6}}
		if got := f.silent(); (got != "") != silent {
			t.Errorf("these are at %q: %q", does, got)
		}
	}
	f := newFinding(ChannelKind)
	f.Causes = []Cause{{Class: "go:main.get", Activity: Selecting, Share: 1, Place: Place{Library: "net/http.(*persistConn).roundTrip"}}}
	if got := f.silent(); got != "" {
		t.Errorf("these ask a server: %q", got)
	}
}

// Of a recording with many goroutines at work, a gain needs only
// some samples.
func TestMomentsAreBounded(t *testing.T) {
	r := wide(3000, 1000)
	s := fixture.Must(newSearcher(r, configured()))(t)
	m, workers := newMoments(s), 0
	for i, samples := range m.samples {
		if i > 0 && samples <= m.samples[i-1] {
			t.Fatal("the samples are not in order")
		}
		workers += len(m.workers[i])
	}
	if n := len(m.samples); n < leastMoments || n > mostMoments || workers > 2*mostWorkers {
		t.Errorf("%d moments with %d workers", n, workers)
	}
}

// Whoever is stuck for good gets no more done, whatever is faster.
func TestGainOfTheStuck(t *testing.T) {
	a := &searched{&Answer{Findings: []*Finding{{Kind: StuckKind, Class: "go:main.send"}}}, nil}
	for g, want := range map[*Gain]bool{{Class: "go:main.send"}: true, {Class: "go:main.work"}: false,
		{Class: "go:main.send", Silent: "it is not known"}: false} {
		if got := a.isStuck(g); got != want {
			t.Errorf("%+v: %t", g, got)
		}
	}
}

// What a system call takes of the CPUs goes away with its wait.
func TestGainOfSystemCalls(t *testing.T) {
	s := newScene()
	g := s.spawn(1, "main.commitLoop")[0]
	for i := range 200 {
		state := s.at(sampledata.State{Run: sampledata.Waiting, Reason: "syscall"}, "main.commitLoop", "main.commit", "os.(*File).Sync")
		switch {
		case i%10 >= 8:
			state = s.at(runs, "main.commitLoop", "main.encode")
		case i%10 >= 5:
			state = s.at(runs, "main.commitLoop", "main.commit", "os.(*File).Sync")
		}
		s.sample(t, states{g: state})
	}
	a := s.find(t)
	n := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Kind == BlockingKind })
	if n < 0 {
		t.Fatalf("%+v", a.Findings)
	}
	if g := a.Findings[n].Gain; g.Times == nil || g.Times.Times < 4.5 || g.Times.Times > 5.5 {
		t.Errorf("%+v %+v, want 5 times", g, g.Times)
	}
}

// Goroutines of a class that do other work would not do more without a
// cost that they never have.
func TestGainOfThoseThatHaveTheCost(t *testing.T) {
	s := newScene()
	servers, streams := s.spawn(4, "main.serve"), s.spawn(4, "main.serve")
	s.samples(t, 200, func(i int) {
		for k, g := range servers {
			if s.is[g] = s.at(reads, "main.serve", "main.fetch", "net.(*conn).Read"); (i+k)%4 == 0 {
				s.is[g] = s.at(reads, "main.serve", "main.store", "net.(*conn).Write")
			}
		}
		s.all(streams, s.at(reads, "main.serve", "main.stream", "net.(*conn).Write"))
		if i%50 == 0 {
			s.all(streams, s.at(runs, "main.serve", "main.stream"))
		}
	})
	if g := s.asked(t, "main.fetch", false); g.Times == nil || !nearly(g.Times.Times, 4) {
		t.Errorf("%+v %+v", g, g.Times)
	}
}

// Who asks a server of others waits for nobody in the program,
// though another one waits for its lock meanwhile. One connection
// with itself may carry many requests.
func TestGainOfALockHeldWhileAServerAnswers(t *testing.T) {
	for own, others := range map[int64]bool{0: true, 1: false, -1: false} {
		s := newScene()
		handlers, cleaner := s.spawn(4, "main.handle"), s.spawn(1, "main.clean")
		connections := s.Monitor(sampledata.Monitor{Name: ownConnections, Layer: sampledata.Kernel, Kind: sampledata.Level})
		s.samples(t, 100, func(i int) {
			waits := func(in string) sampledata.State {
				w := s.at(blocked, in, "sync.(*Mutex).Lock")
				w.Lock, w.Holders = 0x200, s.HolderSet(handlers[(i+1)%4:][:1])
				return w
			}
			if own >= 0 {
				s.Measure(connections, sampledata.Number(own))
			}
			if i%5 > 0 {
				s.all(cleaner, waits("main.clean"))
			} else {
				s.all(cleaner, s.at(runs, "main.clean"))
			}
			s.those(handlers, func(j int) bool { return (i+j)%2 == 0 }, waits("main.handle"))
			s.those(handlers, func(j int) bool { return (i+j)%2 == 1 },
				s.at(selects, "main.handle", "main.load", "net/http.(*persistConn).roundTrip"))
		})
		g := s.asked(t, "sync.(*Mutex).Lock", false)
		if g.Class != "go:main.handle" || g.Times == nil || nearly(g.Times.Times, 2) != others {
			t.Errorf("%d own connections: without the waits for the lock: %+v, %+v", own, g, g.Times)
		}
	}
}

// Full processors that save time bring no more than what a class
// does else: it sleeps, or waits for the server of others.
func TestGainBesideAnswers(t *testing.T) {
	for _, does := range []sampledata.State{selects, sleeps} {
		s := newScene()
		connections := s.Monitor(sampledata.Monitor{Name: ownConnections, Layer: sampledata.Kernel, Kind: sampledata.Level})
		all := s.spawn(16, "main.job")
		s.samples(t, 200, func(i int) {
			s.Measure(connections, sampledata.Number(0))
			s.all(all, s.at(does, "main.job", "main.call", "net/http.(*persistConn).roundTrip"))
			s.some(i, 4, all, s.at(runs, "main.job", []string{"main.encode", "main.think"}[i%2]))
		})
		if g := s.asked(t, "main.encode", false); g.Times == nil || !nearly(g.Times.Times, 4./3) {
			t.Errorf("%s: %+v, %+v", does.Reason, g, g.Times)
		}
	}
}

// The cost of a finding brings what the finding says, whoever asks.
func TestGainOfFindingAsked(t *testing.T) {
	s := burstScene(t)
	f := s.find(t).Findings[0]
	for _, half := range []bool{false, true} {
		if g := s.asked(t, f.Where.Function, half); f.Gain.Silent == "" || !reflect.DeepEqual(g, f.Gain) {
			t.Errorf("%s has the gain %+v, without it %+v", f.Where.Function, f.Gain, g)
		}
	}
	s = lockedScene(t)
	f = s.lockFinding(t)
	if g := s.asked(t, f.Lock, false); !reflect.DeepEqual(g, f.Gain) {
		t.Errorf("%s has the gain %+v, without it %+v", f.Lock, f.Gain, g)
	}
}

// Who waits for goroutines of its own class waits for what these do,
// if nobody else is at work: the wait for the answer of a server.
func TestGainOfWaitsForOwnClass(t *testing.T) {
	s := newScene()
	all := s.spawn(4, "main.visit")
	s.samples(t, 100, func(i int) {
		s.all(all, s.at(sampledata.State{Run: sampledata.Waiting, Reason: "chan receive"}, "main.visit", "main.fields"))
		s.is[all[i%4]] = s.at(sampledata.State{Run: sampledata.Waiting, Reason: "select"},
			"main.visit", "main.author", "net/http.(*persistConn).roundTrip")
		if i%10 == 0 {
			s.is[all[i%4]] = s.at(runs, "main.visit", "main.write")
		}
	})
	if g := s.asked(t, "main.author", true); g.Times == nil || !nearly(g.Times.Times, 1/(1-0.45)) {
		t.Errorf("without half of the answers: %+v, %+v", g, g.Times)
	}
}
