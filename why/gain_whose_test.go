package why

import (
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// What a timer lets go on is not waited for in the own class.
func TestGainOfWaitsForATimer(t *testing.T) {
	s := newScene()
	all, refill := s.spawn(4, "main.worker"), s.spawn(1, "main.refill")[0]
	s.samples(t, 200, func(i int) {
		s.all(all, s.at(sampledata.State{Run: sampledata.Waiting, Reason: "chan receive"}, "main.worker", "main.job", "main.(*bucket).take"))
		if i%10 < 5 {
			s.is[all[i/10%4]] = s.at(runs, "main.worker", "main.job", "main.work")
		}
		s.is[refill] = s.at(sleeps, "main.refill")
		s.sometimes(i, 20, refill, s.at(runs, "main.refill"))
	})
	if g := s.asked(t, "main.work", false); g.Times == nil || g.Times.Times > 1.2 {
		t.Errorf("without main.work: %+v, %+v", g, g.Times)
	}
}

// Whoever waits for clients of the program's own handlers waits for
// what these do.
func TestGainBehindOwnHandlers(t *testing.T) {
	s := newScene()
	boss, clients, servers := s.spawn(12, "main.boss"), s.spawn(4, "main.client"), s.spawn(4, "net/http.(*conn).serve")
	connections := s.Monitor(sampledata.Monitor{Name: ownConnections, Layer: sampledata.Kernel, Kind: sampledata.Level})
	s.samples(t, 200, func(i int) {
		s.Measure(connections, sampledata.Number(8))
		s.all(boss, s.at(sampledata.State{Run: sampledata.Waiting, Reason: "chan receive"}, "main.boss", "main.all", "main.round"))
		s.all(clients, s.at(selects, "main.client", "main.ask", "net/http.(*persistConn).roundTrip"))
		s.all(servers, s.at(runs, "net/http.(*conn).serve", "main.handle", "main.render"))
		s.some(i, 10, clients, s.at(runs, "main.client", "main.parse"))
		s.some(i, 10, boss, s.at(runs, "main.boss", "main.all", "main.sum"))
		s.some(i+5, 20, boss, s.at(reads, "main.boss", "main.all", "main.save"))
	})
	if g := s.asked(t, "main.render", false); g.Class != "go:main.boss" || g.Times == nil || g.Times.Times < 4.4 {
		t.Errorf("without main.render: %+v, %+v", g, g.Times)
	}
}

// Half of a finding's cost is of the class that its gain is of.
func TestGainOfHalfIsOfTheSameClass(t *testing.T) {
	s := newScene()
	maker, users := s.spawn(1, "main.maker"), s.spawn(6, "main.user")
	waits := idles
	waits.Lock, waits.Evidence, waits.Holders = 0x100, sampledata.Likely, s.HolderSet(maker)
	s.samples(t, 200, func(i int) {
		s.is[maker[0]] = s.at(runs, "main.maker", "main.loop", "main.make")
		if i%5 < 2 {
			s.is[maker[0]] = s.at(reads, "main.maker", "main.loop", "main.save", "os.(*File).Sync")
		}
		s.all(users, s.at(waits, "main.user", "main.call", "main.get"))
		s.some(i, 6, users, s.at(runs, "main.user", "main.call", "main.use"))
		s.some(i, 12, users, s.at(reads, "main.user", "main.call", "main.put"))
	})
	whole, half := s.asked(t, "main.make", false), s.asked(t, "main.make", true)
	if whole.Class != "go:main.maker" || half.Class != whole.Class || *half.Times != *whole.Half {
		t.Errorf("whole %+v, %+v; half %+v, %+v", whole, whole.Half, half, half.Times)
	}
}

// Code of a class that gains nothing without it has the gain of those
// that wait for it.
func TestGainOfThoseWhoWait(t *testing.T) {
	s := newScene()
	all, disk, users := s.spawn(3, "main.encoder"), s.spawn(1, "main.disk"), s.spawn(8, "main.user")
	waits, gets := blocked, idles
	waits.Lock, waits.Holders = 0x200, s.HolderSet(disk)
	gets.Lock, gets.Evidence = 0x100, sampledata.Likely
	s.samples(t, 200, func(i int) {
		encodes := all[i/3%3]
		s.all(all, s.at(waits, "main.encoder", "main.step", "main.store", "sync.(*Mutex).Lock"))
		s.is[encodes] = s.at(runs, "main.encoder", "main.step", "main.encode")
		s.is[disk[0]] = s.at(reads, "main.disk", "main.flush", "os.(*File).Sync")
		gets.Holders = s.HolderSet([]sampledata.GoroutineID{encodes})
		s.all(users, s.at(gets, "main.user", "main.call", "main.get"))
		s.some(i, 8, users, s.at(runs, "main.user", "main.call", "main.use"))
		s.some(i, 16, users, s.at(reads, "main.user", "main.call", "main.put"))
	})
	found := s.find(t).Findings
	i := slices.IndexFunc(found, func(f *Finding) bool { return f.Where.Function == "main.encode" })
	if i < 0 || found[i].Gain.Class != "go:main.user" || found[i].Gain.Times.Times < 5 {
		t.Errorf("%+v", found)
	}
}

// What a class makes again and again keeps the collector busy, too. Who
// allocates to copy does not copy, either, without that.
func TestGainOfAllocation(t *testing.T) {
	assists := sampledata.State{Run: sampledata.Waiting, Reason: "GC assist wait"}
	for _, c := range []struct {
		kind   Kind
		makes  string
		other  func(s *scene) sampledata.State // a quarter of the time
		times  float64
		copied bool
	}{
		{MakingKind, "regexp.Compile", func(s *scene) sampledata.State {
			return s.at(assists, "main.worker", "main.other", "runtime.mallocgc")
		}, 2, false},
		{AllocationKind, "runtime.concatstrings", func(s *scene) sampledata.State {
			return s.at(runs, "main.worker", "main.handle", "runtime.concatstrings", "runtime.memmove")
		}, 2, true},
		{AllocationKind, "main.join", func(s *scene) sampledata.State {
			return s.at(runs, "main.worker", "main.handle", "main.join", "runtime.memmove")
		}, 4. / 3, false},
	} {
		s := newScene()
		all := s.spawn(4, "main.worker")
		s.samples(t, 400, func(i int) {
			for k, g := range all {
				switch s.is[g] = s.at(runs, "main.worker", "main.serve"); (i + k) % 4 {
				case 0:
					s.is[g] = s.at(runs, "main.worker", "main.handle", c.makes, "runtime.mallocgc")
				case 1:
					s.is[g] = c.other(s)
				}
			}
		})
		found := s.find(t).Findings
		i := slices.IndexFunc(found, func(f *Finding) bool { return f.Kind == c.kind })
		if i < 0 || found[i].Gain.Times == nil || !nearly(found[i].Gain.Times.Times, c.times) || found[i].Gain.Copied != c.copied {
			for _, f := range found {
				t.Errorf("%s of %s, of %s: %+v", f.Kind, f.Where.Function, c.makes, f.Gain)
			}
		}
		if g := s.asked(t, "* ..@alloc or * ..@gc", false); c.copied && (g.Times == nil || *g.Times != *found[i].Gain.Times) {
			t.Errorf("asked for allocation, it says %+v, and not %+v", g.Times, found[i].Gain.Times)
		}
	}
}

// Full processors do as much more as they save of the CPU time that was
// used. What waits for a CPU of the machine uses none.
func TestGainOfTheCPUTimeUsed(t *testing.T) {
	s := newScene()
	all, helpers := s.spawn(4, "main.worker"), s.spawn(4, "main.help")
	s.samples(t, 300, func(i int) {
		waits := s.at(runs, "main.worker", "main.parse")
		waits.NoCPU = true
		s.all(all, waits)
		if s.all(helpers, s.at(idles, "main.help")); i%3 > 0 {
			s.some(i, 2, all, s.at(sampledata.State{Run: sampledata.Waiting, Reason: "chan receive"}, "main.worker", "main.detect"))
			s.all(helpers[:2], s.at(runs, "main.help", "main.match"))
		} else {
			s.some(i, 2, all, s.at(runs, "main.worker", "main.parse"))
		}
	})
	if g := s.asked(t, "main.match", false); g.Class != "go:main.worker" || g.Times == nil || !nearly(g.Times.Times, 3) {
		t.Errorf("%+v %+v", g, g.Times)
	}
}

// Who only shares the processors with code is not the one that gains.
func TestGainOfThoseBeside(t *testing.T) {
	s := newScene()
	all, cleaner := s.spawn(8, "main.worker"), s.spawn(1, "main.clean")[0]
	s.samples(t, 200, func(i int) {
		ready := sampledata.State{Run: sampledata.Runnable}
		s.all(all, s.at(ready, "main.worker", "main.handle"))
		s.some(i, 4, all, s.at(runs, "main.worker", "main.handle"))
		s.is[cleaner] = s.at(ready, "main.clean", "main.sweep")
		s.sometimes(i, 5, cleaner, s.at(runs, "main.clean", "main.sweep"))
	})
	f := s.find(t).Findings
	i := slices.IndexFunc(f, func(f *Finding) bool { return f.Where.Function == "main.handle" && f.Kind == ComputeKind })
	if i < 0 || f[i].Gain.Silent != OfAll {
		t.Errorf("%+v", f)
	}
}

// Another class that does the same gains what its own waits cost.
func TestGainOfOthersThatDoTheSame(t *testing.T) {
	s := newScene()
	many, clients := s.spawn(40, "main.refresh"), s.spawn(4, "main.client")
	s.samples(t, 200, func(i int) {
		s.all(many, s.at(selects, "main.refresh", "main.fetch", "net/http.(*Transport).getConn"))
		s.all(clients, s.at(selects, "main.client", "main.fetch", "net/http.(*Transport).getConn"))
		s.some(i, 10, clients, s.at(runs, "main.client"))
		s.some(i, 20, many, s.at(sleeps, "main.refresh"))
	})
	a := fixture.Must(findIn(s.Recording(), configured()))(t)
	i := slices.IndexFunc(a.Findings, func(f *Finding) bool { return f.Where.Function == "main.fetch" && len(f.Others) > 0 })
	if i < 0 {
		t.Fatalf("%+v", a.Findings)
	}
	b := newMoments(a.searcher).tracer(a.targetOf(a.Findings[i]))
	if g := b.gain(a.workers(a.Findings[i].Others), 1); g.Times == nil || !nearly(g.Times.Times, 10) {
		t.Errorf("%+v %+v", g, g.Times)
	}
}
