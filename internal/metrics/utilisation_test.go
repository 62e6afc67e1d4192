package metrics

import (
	"math"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// used makes a recording of samples in which a goroutine
// executes in one of two, the runtime works for itself in one of
// ten, and the kernel's clock says that the program used a
// number of CPUs, but for the first sample.
func used(t *testing.T, samples int, clock float64) *Table {
	t.Helper()
	b := sampledata.NewBuilder(sampledata.Header{})
	cpu := b.Monitor(sampledata.Monitor{Name: "process.cpu", Kind: sampledata.Counter, Unit: "ns"})
	work := b.Function(sampledata.Function{Name: "main.work"})
	stack := b.Node(sampledata.Node{Parent: sampledata.NoStack, Function: work})
	g := b.Goroutine(sampledata.Goroutine{ID: 1, Start: work})
	for i := range samples {
		if i > 0 {
			b.Measure(cpu, sampledata.Count(uint64(clock*float64(i)*1e7)))
		}
		state := sampledata.State{Stack: stack, Run: sampledata.Waiting}
		if i%2 == 0 {
			state.Run = sampledata.Running
		}
		s := sampledata.Sample{Time: time.Duration(i) * 10 * time.Millisecond, Processors: []sampledata.GoroutineID{sampledata.IdleProcessor}}
		if i%10 == 0 {
			s.Processors[0] = sampledata.SystemProcessor
		}
		fixture.Check(t, b.Sample(s, []sampledata.Change{{Goroutine: g, State: state}}))
	}
	return New(b.Recording(), Options{})
}

func TestUtilisation(t *testing.T) {
	for _, c := range []struct {
		clock   float64
		differs bool
	}{{0.5, false}, {0.6, false}, {0.46, false}, {0.64, false}, {0.8, true}, {0.3, true}} {
		u, known := used(t, 1000, c.clock).Utilisation()
		want := Utilisation{Goroutines: 0.5, Runtime: 0.1, Clock: c.clock}
		if !known || math.Abs(u.Goroutines-want.Goroutines) > 1e-3 || math.Abs(u.Runtime-want.Runtime) > 1e-3 || math.Abs(u.Clock-want.Clock) > 1e-9 {
			t.Errorf("got %+v, known: %v, want %+v", u, known, want)
		}
		// Of independent samples, it would be 1.96*0.5/sqrt(1000).
		if math.Abs(u.Margin-0.031) > 0.005 {
			t.Errorf("margin %.3f, want about 0.031", u.Margin)
		}
		if u.Differs() != c.differs {
			t.Errorf("%+v: differs: %v, want %v", u, u.Differs(), c.differs)
		}
	}
	if u, known := used(t, 5, 0.5).Utilisation(); !known || u.Margin < 0.3 || u.Differs() {
		t.Errorf("of five samples: %+v, known: %v, differs: %v; want a wide margin and no difference", u, known, u.Differs())
	}
	if u, known := table(t).Utilisation(); known {
		t.Errorf("without the kernel's clock: %+v", u)
	}
}
