//go:build linux && (amd64 || arm64)

package snapshot

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/sampler"
)

// seen counts, over all samples, the states of the goroutines
// that began with a function.
func seen(r *sampledata.Recording, start string) map[string]int {
	out := map[string]int{}
	for _, run := range r.Runs.All() {
		g := r.Goroutines.At(run.Goroutine)
		if g.Start >= 0 && r.Functions[g.Start].Name == start {
			state := [...]string{"unknown", "running", "detached", "runnable", "waiting", "blocked"}[run.Run]
			out[strings.TrimSpace(state+" "+run.Reason)] += int(run.Last-run.First) + 1
		}
	}
	return out
}

// checkStates checks a recording of a target with goroutines in
// every state, some of which wait for the lock at stuck.
func checkStates(t *testing.T, r *sampledata.Recording, stuck uint64) {
	t.Helper()
	n := r.Samples.Len()
	if got := seen(r, "main.park"); len(got) != 1 || got["waiting chan receive"] != 50*n {
		t.Errorf("50 parked goroutines were seen %v in %d samples", got, n)
	}
	// A thread that sleeps in the kernel may be seen while it
	// goes back to sleep after a halt.
	if got := seen(r, "main.read"); got["waiting syscall"] < 5*n*9/10 {
		t.Errorf("5 goroutines asleep in system calls were seen %v in %d samples", got, n)
	}
	if got := seen(r, "runtime.main"); got["waiting IO wait"]+got["waiting syscall"] < n*9/10 {
		t.Errorf("the main goroutine, which reads its input, was seen %v in %d samples", got, n)
	}
	compute := seen(r, "main.compute")
	if sum := compute["running"] + compute["runnable"]; sum < 2*n*9/10 {
		t.Errorf("two goroutines that compute are seen computing %d times in %d samples: %v", sum, n, compute)
	}
	for _, start := range []string{"main.pass", "main.spawn"} {
		if len(seen(r, start)) == 0 {
			t.Errorf("goroutines of %s are missing", start)
		}
	}
	labelled, blocked := 0, 0
	for _, run := range last(r) {
		if run.Labels != 0 {
			labelled++
			want := []sampledata.Label{{Key: "route", Value: "/api"}, {Key: "user", Value: "ann"}}
			if got := r.LabelSets[run.Labels]; !slices.Equal(got, want) {
				t.Errorf("labels %v, want %v", got, want)
			}
		}
		if run.Run == sampledata.Blocked {
			blocked++
			if run.Lock != stuck || run.Reason != "sync.Mutex.Lock" {
				t.Errorf("blocked on %#x for %q, want %#x", run.Lock, run.Reason, stuck)
			}
		}
	}
	if labelled != 1 || blocked != 3 {
		t.Errorf("%d goroutines have labels and %d wait for the lock, want 1 and 3", labelled, blocked)
	}
	for _, w := range r.Warnings {
		if w.Kind == "torn-stack" && w.Count > int64(n) {
			t.Errorf("%d torn stacks in %d samples", w.Count, n)
		}
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	v := begin(t, build(t), every...)
	b := attach(t, v)
	r := record(t, b, 60)
	checkStates(t, r, v.stuck)
	if h := b.Header(); h.GoVersion == "" || h.Executable != v.Path || h.GOMAXPROCS < 1 || h.PID != int64(v.Process.Pid) {
		t.Errorf("header %+v", h)
	}
	system := 0
	for _, run := range last(r) {
		if r.Goroutines.At(run.Goroutine).System {
			system++
		}
	}
	if system < 3 {
		t.Errorf("only %d goroutines are the runtime's own", system)
	}
	s := r.Samples.At(r.Samples.Len() - 1)
	if s.Halt <= 0 || s.Reused < 50 || s.Threads < 5 || len(s.Processors) != int(r.Header.GOMAXPROCS) {
		t.Errorf("sample %+v", s)
	}
	running := 0
	for _, s := range r.Samples.All() {
		for _, p := range s.Processors {
			if p >= 0 {
				running++
			}
		}
	}
	if running < r.Samples.Len()/10 {
		t.Errorf("processors run goroutines %d times in %d samples", running, r.Samples.Len())
	}
}

// A running goroutine's stack reaches from the computation to main.
func TestRunning(t *testing.T) { checkRunning(t) }

// The same is true if the goroutine's thread waits for a CPU,
// and stops after the others were detached from.
func TestRunningLateLong(t *testing.T) {
	fixture.LongInTurn(t, 0)
	for range 2 {
		begin(t, build(t), "-busy=4")
	}
	checkRunning(t)
}

func checkRunning(t *testing.T) {
	t.Helper()
	v := begin(t, build(t), "-busy=4")
	running := func(r *sampledata.Recording) (runs []sampledata.Run) {
		for _, run := range r.Runs.All() {
			if run.Run == sampledata.Running && !r.Goroutines.At(run.Goroutine).System {
				runs = append(runs, run)
			}
		}
		return runs
	}
	r := recordUntil(t, attach(t, v), func(r *sampledata.Recording) bool { return len(running(r)) >= 100 })
	torn, found := 0, running(r)
	for _, run := range found {
		f := frames(r, run.Stack)
		if run.Torn {
			torn++
		} else if !strings.HasPrefix(f[len(f)-1], "main.compute ") {
			t.Errorf("a stack ends with %v", f)
		}
	}
	if len(found) < 100 || torn > len(found)/10 {
		t.Errorf("%d stacks of running goroutines, %d torn", len(found), torn)
	}
}

// Goroutines begin and end, and none is left behind in the recording.
func TestComeAndGo(t *testing.T) {
	t.Parallel()
	v := begin(t, build(t), "-parked=10", "-short=4")
	isLeaf := func(r *sampledata.Recording, g sampledata.Goroutine) bool {
		return g.Start >= 0 && r.Functions[g.Start].Name == "main.leaf"
	}
	leaves := func(r *sampledata.Recording) int {
		n := 0
		for _, g := range r.Goroutines.All() {
			if isLeaf(r, g) {
				n++
			}
		}
		return n
	}
	r := recordUntil(t, attach(t, v), func(r *sampledata.Recording) bool { return leaves(r) >= 1000 })
	live := 0
	for _, run := range last(r) {
		if isLeaf(r, r.Goroutines.At(run.Goroutine)) {
			live++
		}
	}
	// At any moment there are at most 40; those that ended
	// between the two phases may be counted, too.
	if n := leaves(r); n < 1000 || live > n/2 {
		t.Errorf("%d short-lived goroutines were seen, %d live at the end", n, live)
	}
}

// Samples show the collector's phases and workers.
func TestCollector(t *testing.T) {
	v := begin(t, build(t), "-parked=10", "-garbage", "-busy=1")
	count := func(r *sampledata.Recording) (collecting, working int) {
		for _, s := range r.Samples.All() {
			if s.Collecting {
				collecting++
			}
		}
		for _, run := range r.Runs.All() {
			if r.Goroutines.At(run.Goroutine).GC && run.Run == sampledata.Running {
				working++
			}
		}
		return collecting, working
	}
	r := recordUntil(t, attach(t, v), func(r *sampledata.Recording) bool {
		collecting, working := count(r)
		return collecting > 3 && working > 3
	})
	if collecting, working := count(r); collecting <= 3 || working <= 3 {
		t.Errorf("in %d samples collections were under way %d times, and their workers ran %d times", r.Samples.Len(), collecting, working)
	}
	for _, g := range r.Goroutines.All() {
		if g.GC && !g.System {
			t.Errorf("a collector's worker is not a goroutine of the runtime's: %+v", g)
		}
	}
}

// A stack that was reused without reading it is the same as what
// reading it again returns.
func TestReuseLong(t *testing.T) {
	fixture.Long(t)
	v := begin(t, build(t), every...)
	r := record(t, attach(t, v), 200)
	reused, rechecked, wrong := 0, 0, 0
	for _, s := range r.Samples.All() {
		reused, rechecked, wrong = reused+int(s.Reused), rechecked+int(s.Rechecked), wrong+int(s.Wrong)
	}
	if reused < 50*199 || rechecked < 200 || wrong > rechecked/100 {
		t.Errorf("%d stacks were reused, %d of them read again, and %d found changed", reused, rechecked, wrong)
	}
}

// A new sink gets everything reported again.
func TestTwoSinks(t *testing.T) {
	v := begin(t, build(t), quiet...)
	b := attach(t, v)
	first, second := record(t, b, 3), record(t, b, 3)
	if a, b := len(last(first)), len(last(second)); a != b || a < 200 {
		t.Errorf("%d goroutines, then %d", a, b)
	}
}

func TestDeletedBinary(t *testing.T) {
	text := fixture.Must(os.ReadFile(build(t)))(t)
	path := filepath.Join(t.TempDir(), "gone")
	fixture.Check(t, os.WriteFile(path, text, 0o755))
	v := begin(t, path, quiet...)
	os.Remove(path)
	b := attach(t, v)
	if b.Header().Executable != path {
		t.Errorf("executable %q, want %q", b.Header().Executable, path)
	}
	checkOracle(t, record(t, b, 2), v.dump())
}

func TestKilled(t *testing.T) {
	v := begin(t, build(t), every...)
	b := attach(t, v)
	record(t, b, 2)
	v.end()
	sink := sampledata.NewBuilder(b.Header())
	var ended *sampler.EndedError
	if _, err := b.Observe(context.Background(), sink, sampledata.Sample{}); !errors.As(err, &ended) {
		t.Errorf("got %v", err)
	}
}

func TestRefused(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(sleep, "60")
	p := fixture.Must(sampler.LaunchCommand(cmd))(t)
	defer cmd.Process.Kill()
	defer p.Release()
	if b, err := Attach(p); err == nil {
		b.Close()
		t.Error("a program that isn't Go's was accepted")
	} else if !strings.Contains(err.Error(), "Go") {
		t.Errorf("the error doesn't say what is the matter: %v", err)
	}
}

func BenchmarkObserve(b *testing.B) {
	busy, atRest := []string{"-busy=1", "-pairs=1", "-lockers=2"}, []string{"-depth=4"}
	b.Run("100", func(b *testing.B) { benchmarkObserve(b, "100", busy) })
	b.Run("1000", func(b *testing.B) { benchmarkObserve(b, "1000", busy) })
	b.Run("10000", func(b *testing.B) { benchmarkObserve(b, "10000", busy) })
	b.Run("10000 at rest", func(b *testing.B) { benchmarkObserve(b, "10000", atRest) })
}

func benchmarkObserve(b *testing.B, parked string, args []string) {
	v := begin(b, build(b), append(args, "-parked="+parked)...)
	a := attach(b, v)
	sink := sampledata.NewBuilder(a.Header())
	var halted time.Duration
	k := 0
	observe := func() {
		s, err := a.Observe(context.Background(), sink, sampledata.Sample{Time: time.Duration(k)})
		if err != nil {
			return
		}
		k++
		halted += s.Halt
	}
	for range 100 { // the first reads all stacks, and the next ones the code
		observe()
	}
	k, halted = 0, 0
	before := sampler.ProcessorTime()
	for b.Loop() {
		observe()
	}
	n := float64(max(k, 1))
	b.ReportMetric(float64(halted.Microseconds())/n, "halted-µs/op")
	b.ReportMetric(float64((sampler.ProcessorTime()-before).Microseconds())/n, "cpu-µs/op")
}
