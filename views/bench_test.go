package views

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// A load is a synthetic recording: of so many goroutines in
// eight classes, a share changes state in each sample.
type load struct {
	goroutines, samples int
	changed             float64 // share of the goroutines
	runnable            float64 // share of the states that are :RUN, runnable; as many wait for a held lock
	siteClasses         bool    // each goroutine has a creation site of its own
}

const benchProcessors = 8

func (l load) recording(tb testing.TB) *sampledata.Recording {
	b := sampledata.NewBuilder(sampledata.Header{Start: time.Unix(0, 0), GOMAXPROCS: benchProcessors})
	rnd := rand.New(rand.NewPCG(1, 2))
	var fns []sampledata.FunctionID
	for i := range 500 {
		fns = append(fns, b.Function(sampledata.Function{Name: fmt.Sprintf("pkg%d.f%d", i%20, i), File: fmt.Sprintf("/src/f%d.go", i%50)}))
	}
	gs := make([]sampledata.GoroutineID, l.goroutines)
	for i := range gs {
		g := sampledata.Goroutine{ID: int64(i + 1), Start: fns[i%8]}
		if l.siteClasses {
			g.Site = sampledata.Site{File: "main.go", Line: int32(i + 1)}
		}
		gs[i] = b.Goroutine(g)
	}
	var stacks []sampledata.NodeID
	for i := range 2000 {
		n := sampledata.NoStack
		for depth := range 25 {
			n = b.Node(sampledata.Node{Parent: n, Function: fns[(depth*7+i>>(12-depth/2))%len(fns)]})
		}
		stacks = append(stacks, n)
	}
	state := func() sampledata.State {
		s := sampledata.State{Stack: stacks[rnd.IntN(len(stacks))], Run: sampledata.Waiting, Reason: "chan receive"}
		switch x := rnd.Float64(); {
		case x < l.runnable:
			s = sampledata.State{Stack: s.Stack, Run: sampledata.Runnable}
		case x < 2*l.runnable:
			holder := b.HolderSet([]sampledata.GoroutineID{gs[rnd.IntN(min(len(gs), 20))]})
			s = sampledata.State{Stack: s.Stack, Run: sampledata.Blocked, Evidence: sampledata.Inferred, Holders: holder}
		}
		return s
	}
	for i := range l.samples {
		changed := make(map[sampledata.GoroutineID]sampledata.State)
		for range int(float64(l.goroutines) * l.changed) {
			changed[gs[rnd.IntN(len(gs))]] = state()
		}
		s := sampledata.Sample{Time: time.Duration(i) * 10 * time.Millisecond}
		for p := range benchProcessors {
			g := gs[(i/10*benchProcessors+p)%len(gs)]
			s.Processors = append(s.Processors, g)
			if i%10 == 0 {
				changed[g] = sampledata.State{Stack: stacks[rnd.IntN(len(stacks))], Run: sampledata.Running}
			} else if st, ok := changed[g]; ok {
				st.Run, st.Holders, st.Evidence = sampledata.Running, 0, 0
				changed[g] = st
			}
		}
		if i == 0 {
			for _, g := range gs {
				if _, ok := changed[g]; !ok {
					changed[g] = state()
				}
			}
		}
		var changes []sampledata.Change
		for g, st := range changed {
			changes = append(changes, sampledata.Change{Goroutine: g, State: st})
		}
		fixture.Check(tb, b.Sample(s, changes))
	}
	return b.Recording()
}

// planned is a recording of the size that the project plans for.
var planned = load{goroutines: 1000, samples: 10_000, changed: 0.01, runnable: 0.02}

func BenchmarkThread(b *testing.B) {
	r := planned.recording(b)
	for _, a := range []Accounting{Observed, Single, Processors} {
		b.Run(a.String(), func(b *testing.B) { benchThread(b, r, Options{Accounting: a}) })
	}
}

func BenchmarkServer(b *testing.B) {
	r := planned.recording(b)
	for _, a := range []Accounting{Observed, Single, Processors} {
		b.Run(a.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fixture.Must(Server(r, Options{Accounting: a}))(b)
			}
		})
	}
}

func BenchmarkClasses(b *testing.B) {
	r := planned.recording(b)
	b.ReportAllocs()
	for b.Loop() {
		fixture.Must(Classes(r, Options{}))(b)
	}
}

// BenchmarkManyGoroutines is of 100,000 goroutines, a tenth of
// which are runnable and a tenth blocked all the time: what is
// alike must cost once.
func BenchmarkManyGoroutines(b *testing.B) {
	r := load{goroutines: 100_000, samples: 100, changed: 0.01, runnable: 0.1}.recording(b)
	for _, a := range []Accounting{Observed, Single, Processors} {
		b.Run(a.String(), func(b *testing.B) { benchThread(b, r, Options{Accounting: a}) })
	}
	b.Run("classes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			fixture.Must(Classes(r, Options{}))(b)
		}
	})
}

// BenchmarkManyClasses is of 100,000 goroutines with a class each.
func BenchmarkManyClasses(b *testing.B) {
	r := load{goroutines: 100_000, samples: 20, changed: 0.01, runnable: 0.1, siteClasses: true}.recording(b)
	o := Options{Accounting: Processors, Classes: ClassBy{Site: true}}
	for b.Loop() {
		fixture.Must(Classes(r, o))(b)
		fixture.Must(Thread(r, "go:pkg0.f0@main.go:1", o))(b)
	}
}

func benchThread(b *testing.B, r *sampledata.Recording, o Options) {
	b.ReportAllocs()
	for b.Loop() {
		view := fixture.Must(Thread(r, "go:pkg0.f0", o))(b)
		b.ReportMetric(float64(view.Tree.Len()), "nodes")
		b.ReportMetric(float64(len(view.Tree.Main().Planes())), "planes")
	}
}
