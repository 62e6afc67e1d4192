//go:build amd64 || arm64

package metrics_test

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"math"
	"os/exec"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/metrics"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
	"github.com/cpprof/cpprof/sampler/monitor"
	"github.com/cpprof/cpprof/sampler/snapshot"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/locks"
)

// The programs in testdata/programs/stories behave as those
// whose behaviour the authors of vertical profiling explained:
// what changes is found, with its cause; and nothing of it where
// the cause is absent.

func TestMain(m *testing.M) { fixture.Main(m) }

// record records a program with some of its variables, until it ends.
func record(t testing.TB, story, variant string, variables ...string) *sampledata.Recording {
	t.Helper()
	cmd := exec.Command(fixture.Build(t, "stories"), story, variant)
	begin := fixture.Must(cmd.StdinPipe())(t)
	out := fixture.Must(cmd.StdoutPipe())(t)
	p := fixture.Must(sampler.LaunchCommand(cmd))(t)
	defer p.Release()
	t.Cleanup(func() { cmd.Process.Kill() })
	fixture.Must(bufio.NewReader(out).ReadString('\n'))(t)
	backend, err := snapshot.Attach(p)
	if errors.Is(err, fs.ErrPermission) {
		t.Skip(err)
	}
	fixture.Check(t, err)
	defer backend.Close()
	var requests []monitor.Request
	for _, v := range variables {
		requests = append(requests, monitor.Request{Text: v, Required: true})
	}
	o := sampler.Options{Rate: 60}
	o.Monitors = fixture.Must(monitor.Choose(true, requests))(t)
	b := sampledata.NewBuilder(backend.Header())
	begun := false
	o.Progress = func(sampler.Progress) { // the program waits until cpprof has learnt it
		if !begun {
			begun = true
			begin.Write([]byte("\n"))
		}
	}
	fixture.Must(sampler.Record(context.Background(), p, backend, b, o))(t)
	r := b.Recording()
	fixture.Check(t, r.Check())
	t.Logf("%s %s: %d samples in %v", story, variant, r.Samples.Len(), r.Samples.Time(r.Samples.Len()-1))
	return r
}

func tableOf(r *sampledata.Recording) *metrics.Table { return metrics.New(r, metrics.Options{}) }

func metric(t testing.TB, table *metrics.Table, expr string) *metrics.Metric {
	t.Helper()
	return fixture.Must(table.Numbers(expr))(t)
}

// correlation returns Pearson's r over all samples; 0 if there is none.
func correlation(t testing.TB, table *metrics.Table, x, y string) float64 {
	t.Helper()
	c := metrics.Correlate(metric(t, table, x).Column, metric(t, table, y).Column, metrics.All(table.Samples()))
	if math.IsNaN(c.Pearson) {
		return 0
	}
	return c.Pearson
}

// A suggestion is what goes with a metric: the candidates whose
// expressions have a text.
type suggestion struct{ sure, any float64 } // r of the closest one that may not be chance, and of the closest one; 0 if there is none

func suggested(t testing.TB, table *metrics.Table, of, text string) (s suggestion) {
	t.Helper()
	ranking, err := table.Rank(of, metrics.All(table.Samples()), metrics.RankOptions{Least: 0.01, Most: 1000})
	fixture.Check(t, err)
	for _, c := range ranking.List {
		if !strings.Contains(c.Expr, text) {
			continue
		}
		if math.Abs(c.Pearson) > math.Abs(s.any) {
			s.any = c.Pearson
		}
		if c.Survives && math.Abs(c.Pearson) > math.Abs(s.sure) {
			s.sure = c.Pearson
		}
	}
	return s
}

// A cache warms up: throughput rises as the slow path is left.
// Without a cache, or with a warm one, nothing changes.
func TestGradualIncreaseLong(t *testing.T) {
	fixture.Long(t)
	fixture.Measure(t, gradualIncrease)
}

func gradualIncrease(t testing.TB) {
	const throughput = "rate(main.served)"
	table := tableOf(record(t, "gradual", "warming", "main.served"))
	if r := suggested(t, table, throughput, "main.load").sure; r > -0.6 {
		t.Errorf("the slow path goes with the throughput by r = %v", r)
	}
	if r := suggested(t, table, throughput, "main.lookUp").sure; r < 0.6 {
		t.Errorf("the fast path goes with the throughput by r = %v", r)
	}
	if r := correlation(t, table, throughput, "time"); r < 0.6 {
		t.Errorf("throughput goes with the time by r = %v", r)
	}
	for _, variant := range []string{"cold", "warm"} {
		table := tableOf(record(t, "gradual", variant, "main.served"))
		if r := correlation(t, table, throughput, "time"); math.Abs(r) > 0.5 {
			t.Errorf("%s: throughput goes with the time by r = %v", variant, r)
		}
		for _, path := range []string{"main.load", "main.lookUp"} {
			if r := suggested(t, table, throughput, path).any; math.Abs(r) > 0.5 {
				t.Errorf("%s: %s goes with the throughput by r = %v", variant, path, r)
			}
		}
	}
}

// mean returns the mean of a metric in the samples of a list.
func mean(t testing.TB, table *metrics.Table, expr string, l metrics.List) float64 {
	t.Helper()
	return metric(t, table, expr).Mean(l)
}

func list(t testing.TB, table *metrics.Table, expr string) metrics.List {
	t.Helper()
	return fixture.Must(table.List(expr))(t)
}

// An implementation is replaced while the program runs: the
// throughput jumps where the call path begins, and both
// implementations are named.
func TestSuddenIncreaseLong(t *testing.T) {
	fixture.Long(t)
	fixture.Measure(t, suddenIncrease)
}

func suddenIncrease(t testing.TB) {
	const throughput, isNew = "rate(main.served)", "hits(* ..main.newer) > 0"
	table := tableOf(record(t, "sudden", "swapped", "main.served"))
	if r := suggested(t, table, throughput, "main.newer").any; r < 0.6 {
		t.Errorf("the new implementation goes with the throughput by r = %v", r)
	}
	if r := suggested(t, table, throughput, "main.older").any; r > -0.6 {
		t.Errorf("the old implementation goes with the throughput by r = %v", r)
	}
	after := list(t, table, isNew)
	from := after.Members()[0]
	late := metrics.NewList(table.Samples())
	for i := from; i < len(late); i++ {
		late.Add(i)
	}
	if before, now := mean(t, table, throughput, late.Not()), mean(t, table, throughput, late); now < 2*before {
		t.Errorf("%v requests a second before the jump, %v after it", before, now)
	}
	if n := list(t, table, "hits(* ..main.older) > 0").And(late).Len(); n > 1 {
		t.Errorf("the old implementation is in %d samples after the jump", n)
	}

	table = tableOf(record(t, "sudden", "same", "main.served"))
	if _, err := table.List(isNew); err == nil || !strings.Contains(err.Error(), "does not occur") {
		t.Errorf("the new implementation is not used: %v", err)
	}
	if r := suggested(t, table, throughput, "main.older").any; math.Abs(r) > 0.5 {
		t.Errorf("the only implementation goes with the throughput by r = %v", r)
	}
}

// More workers that do the same work wait for its locks, which
// are named by layer: one of the program and one of the standard
// library. Without shared locks, none waits.
func TestScalabilityLong(t *testing.T) {
	fixture.Long(t)
	fixture.Measure(t, scalability)
}

func scalability(t testing.TB) {
	scaled := func(workers string) (waiting float64, names string) {
		r := record(t, "scale", workers)
		a := fixture.Must(locks.Analyse(r, views.Options{}, locks.ByField))(t)
		for _, l := range a.Locks {
			names += l.String() + "\n"
		}
		table := tableOf(r)
		return mean(t, table, "goroutines.blocked", metrics.All(table.Samples())), names
	}
	one, _ := scaled("1")
	two, _ := scaled("2")
	four, names := scaled("4")
	if one > 0.05 || two > four-0.5 || four < 1 {
		t.Errorf("of one worker, %.2f wait for a lock; of two, %.2f; of four, %.2f", one, two, four)
	}
	if !strings.Contains(names, "main.(*table)") || !strings.Contains(names, "log.") {
		t.Errorf("the locks are\n%s", names)
	}
	if alone, names := scaled("-4"); alone > 0.1 {
		t.Errorf("without shared locks, %.2f of four workers wait for\n%s", alone, names)
	}
}

// Late in a cycle of the collector, the heap needs memory that
// it did not have before, which faults; not if it had as much
// before.
func TestFaultsBeforeCollectionsLong(t *testing.T) {
	fixture.Long(t)
	fixture.Measure(t, faultsBeforeCollections)
}

func faultsBeforeCollections(t testing.TB) {
	const fresh = "delta(heap.in_use + heap.free) > 5e5" // bytes
	faults := func(table *metrics.Table) float64 {
		c := metric(t, table, "process.minor_faults").Column
		return c[len(c)-1] - c[0]
	}
	table := tableOf(record(t, "cycles", "growing"))
	late := list(t, table, fresh)
	with, without := mean(t, table, "heap.live", late), mean(t, table, "heap.live", late.Not())
	if n := len(late.Spans()); n < 3 || !(with > 1.3*without) {
		t.Errorf("the heap grows %d times, at %v bytes; else there are %v", n, with, without)
	}
	room := tableOf(record(t, "cycles", "room"))
	if n := list(t, room, fresh).Len(); n > 3 {
		t.Errorf("a heap that has room grows in %d samples", n)
	}
	if most, few := faults(table), faults(room); most < 3*few {
		t.Errorf("%v faults of a heap that grows, %v of one that has room", most, few)
	}
}

// Sets of growing size are sorted: the periods are found, and
// what an element takes goes with the logarithm of the size.
func TestPeriodicPatternLong(t *testing.T) {
	fixture.Long(t)
	fixture.Measure(t, periodicPattern)
}

func periodicPattern(t testing.TB) {
	const perElement, size, begin = "delta(main.compared) / delta(main.sorted)", "log2(main.setSize)", "main.setSize > 1 && main.setSize < 256"
	table := tableOf(record(t, "periodic", "growing", "main.compared", "main.sorted", "main.setSize"))
	if n := len(list(t, table, begin).Spans()); n != 4 {
		t.Errorf("%d periods, want 4", n)
	}
	if r := suggested(t, table, perElement, "main.setSize").sure; r < 0.6 {
		t.Errorf("comparisons of an element go with the size by r = %v", r)
	}
	if r := correlation(t, table, perElement, size); r < 0.8 {
		t.Errorf("comparisons of an element go with the logarithm of the size by r = %v", r)
	}

	table = tableOf(record(t, "periodic", "even", "main.compared", "main.sorted", "main.setSize"))
	if n := list(t, table, begin).Len(); n > 0 {
		t.Errorf("sets of one size are small in %d samples", n)
	}
	if s := suggested(t, table, perElement, "main.setSize"); s.any != 0 {
		t.Errorf("comparisons of an element go with a size that does not change by r = %v", s.any)
	}
}
