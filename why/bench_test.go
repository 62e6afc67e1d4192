package why

import (
	"fmt"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// wide makes a recording with as many stacks as nodes: each
// goroutine runs through stacks of its own.
func wide(samples, nodes int) *sampledata.Recording {
	const goroutines, depth, processors = 200, 25, 4
	b := sampledata.NewBuilder(synthetic.Header())
	var stacks []sampledata.NodeID
	function := func(i int) sampledata.FunctionID {
		return b.Function(sampledata.Function{Name: fmt.Sprintf("example.com/p%d.f%d", i%50, i), File: "/src/p.go"})
	}
	for n := 0; n < nodes; {
		node := sampledata.NoStack
		for d := range depth {
			node = b.Node(sampledata.Node{Parent: node, Function: function((d*d*7 + n/depth*(d/4)) % 5000), Line: int32(n % 1000)})
			n++
		}
		stacks = append(stacks, node)
	}
	var all []sampledata.GoroutineID
	for i := range goroutines {
		all = append(all, b.Goroutine(sampledata.Goroutine{ID: int64(i + 1), Start: function(i % 20)}))
	}
	states := []sampledata.State{
		{Run: sampledata.Runnable}, {Run: sampledata.Waiting, Reason: "chan receive", Lock: 0x1000}, {Run: sampledata.Waiting, Reason: "IO wait"},
		{Run: sampledata.Blocked, Reason: "sync.Mutex.Lock", Lock: 0x2000, Evidence: sampledata.Inferred, Holders: b.HolderSet(all[:1])},
	}
	for i := range samples {
		var changes []sampledata.Change
		held := make([]sampledata.GoroutineID, processors)
		for g := range goroutines {
			if i > 0 && g >= processors && (g+i)%5 != 0 {
				continue
			}
			s := states[(g*i+g)%len(states)]
			if g < processors {
				s, held[g] = sampledata.State{Run: sampledata.Running}, all[g]
			}
			s.Stack = stacks[(i*goroutines+g*31)%len(stacks)]
			changes = append(changes, sampledata.Change{Goroutine: all[g], State: s})
		}
		if err := b.Sample(sampledata.Sample{Time: time.Duration(i+1) * 10 * time.Millisecond, Processors: held}, changes); err != nil {
			panic(err)
		}
	}
	return b.Recording()
}

// configured returns the options of a search without a configuration file.
func configured() Options {
	c := config.Default()
	return Options{Views: c.Configure(views.Options{LeaveOutIdle: true}), Aspects: c.AllAspects(), Threshold: DefaultThreshold}
}

// BenchmarkFind searches a recording of 10,000 samples and 100,000 nodes.
func BenchmarkFind(b *testing.B) {
	r := wide(10_000, 100_000)
	b.ReportMetric(float64(r.Runs.Len()), "runs")
	b.ReportAllocs()
	for b.Loop() {
		fixture.Must(Find(r, configured()))(b)
	}
}
