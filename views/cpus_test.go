package views

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// One of two processors can't be used if the program may run on
// one CPU. A share of the processors is of what can be.
func TestProcessorsOfFewCPUs(t *testing.T) {
	for _, c := range []struct {
		allowed int64 // 0 if not measured
		running int
		share   float64
	}{{0, 1, 0.5}, {1, 1, 1}, {2, 1, 0.5}, {64, 1, 0.5}, {1, 2, 1}} {
		s := newSketch(t)
		cpus := s.Monitor(sampledata.Monitor{Name: "process.cpus", Unit: "CPUs", Kind: sampledata.Level})
		states := make(map[sampledata.GoroutineID]sampledata.State)
		for range c.running {
			states[s.goroutine("main.work")] = sampledata.State{Stack: stackOf(s.Builder, "main.work"), Run: sampledata.Running}
		}
		if c.allowed > 0 {
			s.Measure(cpus, sampledata.Number(c.allowed))
		}
		s.sample(states)
		s.sample(nil)
		r := s.Recording()
		server := fixture.Must(Server(r, Options{}))(t)
		used := NewCPUs(r)
		of := float64(used.Used[1]) / float64(used.Processors[1])
		m := server.Tree.Main()
		if cost, _ := m.Cost(m.Cum(0)).Float64(); cost != c.share || of != c.share {
			t.Errorf("%+v: the Server View costs %v, %v of the processors are used", c, cost, of)
		}
	}
}

// Goroutines share what can be used, under each accounting. The
// CPUs of a sample are those that were known then.
func TestProcessorsUnderEachAccounting(t *testing.T) {
	for _, a := range []Accounting{Observed, Single, Processors} {
		s := newSketch(t)
		cpus := s.Monitor(sampledata.Monitor{Name: "process.cpus", Unit: "CPUs", Kind: sampledata.Level})
		at := func(run sampledata.RunState) sampledata.State {
			return sampledata.State{Stack: stackOf(s.Builder, "main.work"), Run: run}
		}
		runs := s.goroutine("main.work")
		states := map[sampledata.GoroutineID]sampledata.State{runs: at(sampledata.Running)}
		for range 3 {
			states[s.goroutine("main.work")] = at(sampledata.Runnable)
		}
		s.Measure(cpus, sampledata.Number(1))
		s.sample(states)
		s.sample(nil)
		r := s.Recording()
		server := fixture.Must(Server(r, Options{Accounting: a}))(t)
		m := server.Tree.Main()
		if cost, _ := m.Cost(m.Cum(0)).Float64(); cost != 1 {
			t.Errorf("%v: the Server View costs %v", a, cost)
		}
	}
	s := newSketch(t)
	cpus := s.Monitor(sampledata.Monitor{Name: "process.cpus", Unit: "CPUs", Kind: sampledata.Level})
	g := s.goroutine("main.work")
	for i, n := range []int64{0, 2, 0, 1, 0} { // 0 if it was not read
		if n > 0 {
			s.Measure(cpus, sampledata.Number(n))
		}
		s.sample(map[sampledata.GoroutineID]sampledata.State{g: {Stack: stackOf(s.Builder, "main.work", fmt.Sprint("main.f", i)), Run: sampledata.Running}})
	}
	if got, want := NewCPUs(s.Recording()).Processors, []int32{2, 2, 2, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("processors %v, want %v", got, want)
	}
}
