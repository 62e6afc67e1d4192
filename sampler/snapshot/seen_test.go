//go:build linux && (amd64 || arm64)

package snapshot

import (
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler/monitor"
)

// The lengths of the queues are those of the moment that the
// stacks show: as many goroutines are ready, unless a thread is
// just between two goroutines. The goroutines of this program
// take turns every microsecond.
func TestQueuesOfTheHalt(t *testing.T) {
	t.Parallel()
	b := attach(t, begin(t, build(t), "-pairs=8"))
	set, err := monitor.Open(monitor.Target{PID: b.process.PID, Binary: b.Binary(), Seen: b.Seen, ReadAlso: b.ReadAlso}, monitor.Builtin())
	fixture.Check(t, err)
	defer set.Close()
	sink := sampledata.NewBuilder(b.Header())
	set.Define(sink)
	b.AfterHalt(func() {
		if b.Seen() == nil {
			t.Error("the halt has copied nothing")
		}
		if err := set.Measure(sink); err != nil {
			t.Error(err)
		}
	})
	const samples = 40
	takeSamples(t, b, sink, func(r *sampledata.Recording) bool { return r.Samples.Len() >= samples })
	if len(b.Seen()) > 0 {
		t.Error("what the halt has copied outlives the sample")
	}
	r := sink.Recording()
	queued, ready := make([]int, r.Samples.Len()), make([]int, r.Samples.Len())
	for _, s := range r.Series {
		if s.Name == "sched.queue" || s.Name == "sched.local_queues" {
			addSeries(queued, &s)
		}
	}
	for _, run := range r.Runs.All() {
		if run.Run == sampledata.Runnable {
			for k := run.First; k <= run.Last; k++ {
				ready[k]++
			}
		}
	}
	differ, long := 0, 0
	for k := range queued {
		if queued[k] != ready[k] {
			differ++
		}
		if queued[k] >= 5 {
			long++
		}
	}
	if differ > samples/3 || long < samples/2 {
		t.Errorf("in %d of %d samples the queues are as long as there are ready goroutines, in %d they are long: %v, %v", samples-differ, samples, long, queued, ready)
	}
}

// addSeries adds a level's values.
func addSeries(to []int, s *sampledata.Series) {
	from, value := 0, 0
	set := func(upTo int) {
		for ; from < upTo; from++ {
			to[from] += value
		}
	}
	for at, v := range s.All() {
		set(at)
		f, _ := v.Float()
		value = int(f)
	}
	set(len(to))
}
