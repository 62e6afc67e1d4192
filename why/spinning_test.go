package why

import (
	"slices"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// A loop that gives way spins, whether a sample sees it ready or
// on a processor. It does not lack processors, and what it
// computes is no finding beside that. Others may lack them, also
// those that give way between two pieces of work.
func TestSpins(t *testing.T) {
	ready := sampledata.State{Run: sampledata.Runnable}
	s := newScene()
	loops, others, polite := s.spawn(2, "main.loop"), s.spawn(4, "main.work"), s.spawn(3, "main.serve")
	s.samples(t, 120, func(i int) {
		for j, g := range loops {
			switch (i + j) % 4 {
			case 0:
				s.is[g] = s.at(runs, "main.loop", "main.(*ring).get")
			case 1:
				s.is[g] = s.at(runs, "main.loop", "main.(*ring).get", "runtime.Gosched")
			default:
				s.is[g] = s.at(ready, "main.loop", "main.(*ring).get", "runtime.Gosched", "runtime.mcall")
			}
		}
		s.all(polite, s.at(ready, "main.serve", "runtime.Gosched", "runtime.mcall"))
		s.some(i, 3, polite, s.at(runs, "main.serve", "main.encode"))
		s.all(others, s.at(ready, "main.work", "main.hash"))
		s.some(i, 2, others, s.at(runs, "main.work", "main.hash"))
	})
	kinds := make(map[Kind]int)
	for _, f := range s.find(t).Findings {
		if kinds[f.Kind]++; f.Kind != SpinKind {
			if f.Class == "go:main.loop" || f.Where.Function == "main.(*ring).get" {
				t.Errorf("%s: %+v", f.Kind, f)
			}
			continue
		}
		if f.Class != "go:main.loop" || f.Where.Function != "main.(*ring).get" || f.Share.Share < 0.74 || f.Share.Share > 0.76 || f.Gain.Silent == "" {
			t.Errorf("%+v", f)
		}
	}
	if kinds[SpinKind] != 1 {
		t.Errorf("findings %v", kinds)
	}
}

// Who gives way before it waits, in the same function, does not spin.
func TestGivesWayBeforeAWait(t *testing.T) {
	for every, spins := range map[int]bool{3: false, 1000: true} {
		s := newScene()
		gather := s.spawn(3, "net/http.(*conn).serve")
		s.samples(t, 120, func(i int) {
			for j, g := range gather {
				s.is[g] = s.at(runs, "net/http.(*conn).serve", "main.gather", "runtime.Gosched")
				switch {
				case (i+j)%every == every-1:
					s.is[g] = s.at(selects, "net/http.(*conn).serve", "main.gather", "runtime.selectgo")
				case i%4 == 0:
					s.is[g] = s.at(runs, "net/http.(*conn).serve", "main.gather")
				}
			}
		})
		a := s.find(t)
		if got := slices.ContainsFunc(a.Findings, (*Finding).spins); got != spins {
			t.Errorf("a wait each %d samples: %+v", every, a.Findings)
		}
	}
}

// Goroutines that live for one piece of work, and wait in most
// of it, do not spin, though none is seen to wait a second time.
func TestShortGoroutinesDoNotSpin(t *testing.T) {
	for waiting, spins := range map[int]bool{0: true, 3: false} {
		s := newScene()
		loop := s.spawn(1, "main.loop")[0]
		for range 100 {
			s.is[loop] = s.at(idles, "main.loop")
			fresh := s.spawn(5, "main.put")
			s.all(fresh, s.at(runs, "main.put", "runtime.chansend1", "runtime.chansend"))
			s.those(fresh, func(j int) bool { return j < waiting }, s.at(sends, "main.put"))
			s.sample(t)
			s.gone = fresh
		}
		a := s.find(t)
		if slices.ContainsFunc(a.Findings, (*Finding).spins) != spins {
			t.Errorf("%d of 5 wait: %+v", waiting, a.Findings)
		}
	}
}

// Whoever looks at a channel and finds nothing may spin. A free list
// mostly has something.
func TestFreeListsDontSpin(t *testing.T) {
	for _, finds := range []bool{false, true} {
		s := newScene()
		all := s.spawn(4, "main.encode")
		s.samples(t, 100, func(i int) {
			for j, g := range all {
				switch (i + j) % 4 {
				case 0:
					s.is[g] = s.at(runs, "main.encode", "main.(*list).get", "runtime.selectnbrecv", "runtime.chanrecv", "runtime.empty")
				case 1:
					if s.is[g] = s.at(runs, "main.encode", "main.(*list).get", "runtime.selectnbrecv", "runtime.chanrecv"); finds {
						s.is[g] = s.at(runs, "main.encode", "main.(*list).get", "runtime.selectnbrecv", "runtime.chanrecv", "runtime.lock2")
					}
				default:
					s.is[g] = s.at(runs, "main.encode")
				}
			}
		})
		spins := slices.ContainsFunc(s.find(t).Findings, (*Finding).spins)
		if spins == finds {
			t.Errorf("it finds something: %v, it spins: %v", finds, spins)
		}
	}
}
