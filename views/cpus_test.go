package views

import (
	"testing"

	"github.com/cpprof/cpprof/sampledata"
)

// Two of three processors can't be used if the program may run
// on one CPU. A share of the processors is of what can be.
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
		server, err := Server(r, Options{})
		if err != nil {
			t.Fatal(err)
		}
		used := NewCPUs(r)
		of := float64(used.Used[1]) / float64(used.Processors[1])
		m := server.Tree.Main()
		if cost, _ := m.Cost(m.Cum(0)).Float64(); cost != c.share || of != c.share {
			t.Errorf("%+v: the Server View costs %v, %v of the processors are used", c, cost, of)
		}
	}
}
