package why

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// Goroutines that come in bursts wait for the processors, also
// if these are free most of the time.
func TestBurstsOfReadyGoroutines(t *testing.T) {
	for runningToo, want := range map[int]string{4: "they come in bursts, and then wait for the processors", 0: "there are free processors: they are about to run"} {
		s := newScene()
		all := s.spawn(10, "main.collect")
		s.samples(t, 100, func(i int) {
			for j, g := range all {
				switch {
				case i%10 != 0:
					s.is[g] = s.at(idles, "main.collect")
				case j < runningToo:
					s.is[g] = s.at(runs, "main.collect")
				default:
					s.is[g] = s.at(sampledata.State{Run: sampledata.Runnable}, "main.collect")
				}
			}
		})
		a := s.find(t)
		if !slices.ContainsFunc(a.Hypotheses, func(h Hypothesis) bool { return h.Kind == ProcessorKind && h.Note == want }) {
			t.Errorf("%d run, too: %+v", runningToo, a.Hypotheses)
		}
	}
}

// A thread that wakes holds a processor, and uses no CPU:
// goroutines that are ready for it do not wait for processors.
func TestReadyUntilAThreadHasWoken(t *testing.T) {
	for used, slow := range map[float64]bool{1.1: false, 1.9: true} {
		s := newScene()
		hashes, parsers := s.spawn(1, "main.hash"), s.spawn(2, "main.parse")
		cpu := s.Monitor(sampledata.Monitor{Name: "process.cpu", Layer: sampledata.Kernel, Kind: sampledata.Counter, Unit: "ns"})
		for i := range 100 {
			changes := []sampledata.Change{{Goroutine: hashes[0], State: s.at(runs, "main.hash")}}
			for _, g := range parsers {
				changes = append(changes, sampledata.Change{Goroutine: g, State: s.at(sampledata.State{Run: sampledata.Runnable}, "main.parse")})
			}
			at := time.Duration(i+1) * 20 * time.Millisecond
			s.Measure(cpu, sampledata.Count(uint64(used*float64(at))))
			held := []sampledata.GoroutineID{hashes[0], sampledata.SystemProcessor}
			fixture.Check(t, s.Sample(sampledata.Sample{Time: at, Processors: held}, changes))
		}
		a := s.find(t)
		if slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Kind == ProcessorKind }) != slow {
			t.Errorf("%v CPUs are used: %+v", used, a.Findings)
		}
	}
}

// Code that has the processors comes before the goroutines of
// another class that wait for one, though these are more. What
// the standard library starts is not named, and what it does for
// a handler as soon as it has a processor is no finding.
func TestCodeForWhichOthersAreReady(t *testing.T) {
	ready := sampledata.State{Run: sampledata.Runnable}
	for first, want := range map[string]string{"main.fetch.gowrap1": "main.validate", "net/http.(*conn).serve": ""} {
		s := newScene()
		handlers, small, helpers := s.spawn(12, "net/http.(*conn).serve"), s.spawn(20, first), s.spawn(30, "net/http.(*connReader).backgroundRead")
		s.samples(t, 80, func(i int) {
			for j, g := range handlers {
				switch (i + j) % 3 {
				case 0:
					s.is[g] = s.at(runs, "net/http.(*conn).serve", "main.handle", "main.validate")
				case 1:
					s.is[g] = s.at(ready, "net/http.(*conn).serve", "main.handle", "main.validate")
				default:
					s.is[g] = s.at(sampledata.State{Run: sampledata.Waiting, Reason: "sync.Cond.Wait"},
						"net/http.(*conn).serve", "net/http.(*response).finishRequest", "net/http.(*connReader).abortPendingRead", "sync.(*Cond).Wait")
				}
			}
			s.all(small, s.at(ready, first))
			s.all(helpers, s.at(ready, "net/http.(*connReader).backgroundRead"))
		})
		a := s.find(t)
		if len(a.Findings) != 2 || a.Findings[0].Where.Function != want && want != "" ||
			slices.ContainsFunc(a.Findings, func(f *Finding) bool { return f.Class == "go:net/http.(*connReader).backgroundRead" }) {
			for _, f := range a.Findings {
				t.Errorf("%s: %s of %s in %s", first, f.Kind, f.Class, f.Where.Function)
			}
		}
	}
}

// measuresCPUs returns what measures, in a sample, how many CPUs all
// programs and this one use, and on how many it may run.
func (s *scene) measuresCPUs(machine, own, may int64) func() {
	monitor := func(name, unit string, kind sampledata.Kind) sampledata.MonitorID {
		return s.Monitor(sampledata.Monitor{Name: name, Layer: sampledata.Kernel, Kind: kind, Unit: unit})
	}
	all, of := monitor("machine.cpu", "ns", sampledata.Counter), monitor("process.cpu", "ns", sampledata.Counter)
	on := monitor("process.cpus", "CPUs", sampledata.Level)
	return func() {
		s.Measure(all, sampledata.Count(uint64(machine*int64(s.now))))
		s.Measure(of, sampledata.Count(uint64(own*int64(s.now))))
		s.Measure(on, sampledata.Number(may))
	}
}

// Code of the class that waits for processors comes first, too, if
// the machine has no more of them than the program uses.
func TestCodeOfThoseThatAreReady(t *testing.T) {
	ready := sampledata.State{Run: sampledata.Runnable}
	for cpus, first := range map[int64]Kind{4: ComputeKind, 16: ProcessorKind} {
		s := newScene()
		all := s.spawn(12, "main.handle")
		measure := s.measuresCPUs(4, 4, cpus)
		s.samples(t, 80, func(i int) {
			s.all(all, s.at(ready, "main.handle", "main.parse"))
			s.some(i, 3, all, s.at(runs, "main.handle", "main.parse"))
			measure()
		})
		if a := s.find(t); len(a.Findings) != 2 || a.Findings[0].Kind != first {
			t.Errorf("%d CPUs: %+v", cpus, a.Findings)
		}
	}
}

// If other programs have half of the CPUs, more processors would
// not help.
func TestReadyBesideOtherPrograms(t *testing.T) {
	ready := sampledata.State{Run: sampledata.Runnable}
	for own, remedy := range map[int64]string{2: "do less at once, or run it where CPUs are free", 4: "do less at once, or use more processors"} {
		s := newScene()
		all := s.spawn(12, "main.handle")
		measure := s.measuresCPUs(4, own, 4)
		s.samples(t, 80, func(i int) {
			s.all(all, s.at(ready, "main.handle", "main.parse"))
			s.some(i, 3, all, s.at(runs, "main.handle", "main.parse"))
			measure()
		})
		f := s.find(t).Findings
		i := slices.IndexFunc(f, func(f *Finding) bool { return f.Kind == ProcessorKind })
		if i < 0 || f[i].Remedy != remedy {
			t.Errorf("with %d CPUs: %+v", own, f)
		}
	}
}

// Goroutines that soon end have the processors for which they wait, or
// those that start them, just then: fewer goroutines would help. Most
// were not seen.
func TestGoroutinesStartedAgainAndAgain(t *testing.T) {
	ready := sampledata.State{Run: sampledata.Runnable}
	for _, c := range []struct {
		does string
		each int64 // by IDs, how many begin for each that is seen
		want bool
	}{
		{"main.split runtime.newproc", 10, true},
		{"main.split runtime.newproc", 1, false},
		{"main.split", 10, false},
		{"main.join", 10, false},
	} {
		s := newScene()
		starters := s.spawn(2, "main.work")
		var brief []sampledata.GoroutineID
		s.samples(t, 60, func(int) {
			s.gone, brief = brief, nil
			for range 40 {
				brief = append(brief, s.Goroutine(sampledata.Goroutine{ID: 100 + c.each*int64(s.Recording().Goroutines.Len()),
					Start: s.function("main.split.func1"), Parent: 1, Site: sampledata.Site{Function: "main.split"}}))
			}
			s.all(brief, s.at(ready, "main.split.func1"))
			s.all(starters, s.at(runs, append([]string{"main.work"}, strings.Fields(c.does)...)...))
		})
		f := newFinding(ProcessorKind)
		f.Class = "go:main.split.func1"
		if share := fixture.Must(newSearcher(s.Recording(), configured()))(t).spawns(f); share > isSign != c.want {
			t.Errorf("%+v: %v", c, share)
		}
	}
}

// Who waits for a processor waits for all that have one, and not just for
// the little that allocates.
func TestWhatHasTheProcessors(t *testing.T) {
	s := newScene()
	all := s.spawn(13, "main.worker")
	assists := sampledata.State{Run: sampledata.Waiting, Reason: "GC assist wait"}
	s.samples(t, 200, func(i int) {
		for k := range all {
			g := all[(k+i)%len(all)]
			switch {
			case k == 0 && i%2 == 0:
				s.is[g] = s.at(runs, "main.worker", "main.load", "runtime.mallocgc")
			case k < 4:
				s.is[g] = s.at(runs, "main.worker", "main.parse")
			case k == 4, k == 5 && i%3 > 0:
				s.is[g] = s.at(assists, "main.worker", "main.load", "runtime.mallocgc")
			default:
				s.is[g] = s.at(sampledata.State{Run: sampledata.Runnable}, "main.worker", "main.parse")
			}
		}
	})
	f := s.find(t).Findings
	i := slices.IndexFunc(f, func(f *Finding) bool { return f.Kind == AllocationKind })
	if f[0].Kind != ComputeKind || f[0].Where.Function != "main.parse" || i < 0 || len(f[i].Ready) == 0 {
		t.Errorf("found %+v", f)
	}
}
