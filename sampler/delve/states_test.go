package delve

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// checkWorkers checks the eight workers that compete for a lock:
// at most one holds it, and nearly always the others wait.
func checkWorkers(t *testing.T, rec *sampledata.Recording) {
	t.Helper()
	crowded := 0
	all := samples(rec, "main.worker")
	for i, workers := range all {
		blocked, holding := 0, 0
		for _, w := range workers {
			if w.state.Run == sampledata.Blocked && !w.state.Torn {
				blocked++
			}
			if w.has("main.hold") {
				holding++
			}
		}
		if len(workers) != 8 || holding > 1 {
			t.Errorf("sample %d: of %d workers %d wait and %d hold the lock", i, len(workers), blocked, holding)
		}
		// Besides the holder, one worker may have been woken to
		// take the lock.
		if blocked >= 6 {
			crowded++
		}
	}
	if crowded < len(all)/2 {
		t.Errorf("six workers wait in %d of %d samples", crowded, len(all))
	}
}

func TestMutex(t *testing.T) {
	r := fixture.Start(t, fixture.Build(t, "mutex"))
	var mu, rw, read uint64
	fixture.Must(fmt.Sscanf(r.Line, "0x%x 0x%x 0x%x", &mu, &rw, &read))(t)
	awaitParked(t, r, "main.reader", "main.writer")
	rec := record(t, r, 50)
	checkWorkers(t, rec)
	for i, workers := range samples(rec, "main.worker") {
		for _, w := range workers {
			if w.state.Run == sampledata.Blocked && (w.state.Lock != mu || w.state.Reason != "sync.Mutex.Lock" || !w.has("main.worker")) {
				t.Errorf("sample %d: blocked at %#x for %q in %v; the lock is at %#x", i, w.state.Lock, w.state.Reason, w.stack(), mu)
			}
		}
	}
	for start, want := range map[string]sampledata.State{
		"main.reader": {Run: sampledata.Blocked, Reason: "sync.RWMutex.RLock", Lock: rw},
		"main.writer": {Run: sampledata.Blocked, Reason: "sync.RWMutex.Lock", Lock: read},
	} {
		for i, gs := range samples(rec, start) {
			for _, g := range gs {
				got := g.state
				got.Stack = 0
				if got != want {
					t.Errorf("sample %d: %s: %+v, want %+v", i, start, got, want)
				}
			}
		}
	}
}

// A goroutine uses three times as much processor time below
// large as below small. On a busy machine it may make no
// progress between two samples, which then count the same moment
// twice. So samples are taken until the share is near the
// expected one; a wrong share never gets there.
func TestContextsLong(t *testing.T) {
	fixture.Long(t)
	const want, tolerance, batch, most = 0.75, 0.06, 400, 4000
	r := fixture.Start(t, fixture.Build(t, "states"), "contexts")
	large, small := 0, 0
	share := func() float64 { return float64(large) / float64(large+small) }
	taken := 0
	for ; taken == 0 || math.Abs(share()-want) > tolerance && taken < most; taken += batch {
		for _, gs := range samples(record(t, r, batch), "main.work") {
			for _, g := range gs {
				switch {
				case g.has("main.large"):
					large++
				case g.has("main.small"):
					small++
				}
			}
		}
	}
	t.Logf("%d in large, %d in small: %.3f, want %v within %v", large, small, share(), want, tolerance)
	if large+small < taken*9/10 {
		t.Errorf("only %v of %d samples in either context", large+small, taken)
	}
	if math.Abs(share()-want) > tolerance {
		t.Errorf("%.3f of the samples below large, want %v within %v", share(), want, tolerance)
	}
}

// On one processor, one of four spinning goroutines runs, and
// the others are runnable.
func TestRunnable(t *testing.T) {
	const n = 100
	rec := record(t, fixture.Start(t, fixture.Build(t, "states"), "runnable"), n)
	full := 0
	for i, gs := range samples(rec, "main.spin") {
		running := 0
		for _, g := range gs {
			switch g.state.Run {
			case sampledata.Running:
				running++
				if p := rec.Samples.At(i).Processors; len(p) != 1 || p[0] < 0 || rec.Goroutines.At(p[0]).ID != g.goid {
					t.Errorf("sample %d: goroutine %d runs, and the processors run %v", i, g.goid, p)
				}
			case sampledata.Runnable:
			default:
				t.Errorf("sample %d: goroutine %d: %+v", i, g.goid, g.state)
			}
		}
		if len(gs) != 4 || running > 1 {
			t.Errorf("sample %d: %d of %d spinning goroutines run on one processor", i, running, len(gs))
		}
		full += running
	}
	// For a moment of each slice of 10 ms the processor runs the
	// scheduler, and for longer if the kernel preempts it then.
	if full < n/2 {
		t.Errorf("one of them runs in %d of %d samples", full, n)
	}
}

// Every kind of wait has the runtime's own text as its reason.
func TestWaits(t *testing.T) {
	reasons := map[string]string{
		"main.receiver": "chan receive", "main.nilReceiver": "chan receive (nil chan)", "main.sender": "chan send",
		"main.selector": "select", "main.acceptor": "IO wait", "main.reader": "syscall", "main.sleeper": "sleep",
		"main.grouped": "sync.WaitGroup.Wait", "main.conditional": "sync.Cond.Wait", "main.inlining": "chan receive",
		"runtime.main": "select (no cases)",
	}
	r := fixture.Start(t, fixture.Build(t, "waits"))
	awaitParked(t, r, slices.Collect(maps.Keys(reasons))...)
	rec := record(t, r, 5)
	all := samples(rec)
	last := all[len(all)-1]
	for start, reason := range reasons {
		i := slices.IndexFunc(last, func(s seen) bool { return s.start == start })
		if i < 0 {
			t.Errorf("%s is missing", start)
			continue
		}
		s := last[i].state
		if s.Run != sampledata.Waiting || s.Reason != reason || s.Torn {
			t.Errorf("%s: %+v, want a wait for %q", start, s, reason)
		}
		if stack := last[i].stack(); stack[0] != start {
			t.Errorf("%s: the outermost frame is %s", start, stack[0])
		}
	}
	for _, s := range last {
		if s.start == "main.inlining" {
			if got := strings.Join(s.stack()[:3], " "); got != "main.inlining main.outer main.inner" {
				t.Errorf("inlined calls: %s", got)
			}
		}
		var g sampledata.Goroutine
		for _, one := range rec.Goroutines.All() {
			if one.ID == s.goid {
				g = one
				break
			}
		}
		if want := strings.HasPrefix(s.start, "runtime.") && s.start != "runtime.main"; g.System != want {
			t.Errorf("%s: the runtime's own: %v", s.start, g.System)
		}
		if strings.HasPrefix(s.start, "main.") && (g.Site.Function != "main.main" || g.Site.Line == 0 || g.Parent != 1) {
			t.Errorf("%s was created at %+v by %d", s.start, g.Site, g.Parent)
		}
	}
}

func TestLabels(t *testing.T) {
	rec := record(t, fixture.Start(t, fixture.Build(t, "states"), "labels"), 3)
	var got []string
	for _, s := range samples(rec)[2] {
		for _, f := range []string{"main.labelled", "main.child", "main.plain"} {
			if s.has(f) {
				got = append(got, fmt.Sprint(f, rec.LabelSets[s.state.Labels]))
			}
		}
	}
	slices.Sort(got)
	want := []string{
		"main.child[{route /parent}]", "main.labelled[{method GET} {route /api}]", "main.labelled[{method GET} {route /static}]",
		"main.plain[]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("labels %q, want %q", got, want)
	}
}

// Stacks of up to 1,000 frames are complete. Deeper ones lack
// their outermost frames, and are counted.
func TestDeep(t *testing.T) {
	r := fixture.Start(t, fixture.Build(t, "states"), "deep")
	awaitParked(t, r, "main.shallow", "main.abyss")
	rec := record(t, r, 3)
	for _, gs := range samples(rec, "main.shallow", "main.abyss") {
		for _, g := range gs {
			stack := g.stack()
			depth := 0
			for _, f := range stack {
				if f == "main.descend" {
					depth++
				}
			}
			if g.start == "main.shallow" && (depth != 300 || g.state.Torn || stack[0] != "main.shallow") {
				t.Errorf("%d calls deep, torn %v, from %s", depth, g.state.Torn, stack[0])
			}
			if g.start == "main.abyss" && (len(stack) != maxDepth || !g.state.Torn || stack[len(stack)-1] != "runtime.gopark") {
				t.Errorf("%d frames, torn %v, to %s", len(stack), g.state.Torn, stack[len(stack)-1])
			}
		}
	}
	if !slices.ContainsFunc(rec.Warnings, func(w sampledata.Warning) bool { return w.Kind == "deep-stack" }) {
		t.Errorf("no warning about the stack that was cut: %v", rec.Warnings)
	}
}

// While a collection is nearly always under way, its workers are
// seen running.
func TestCollectorLong(t *testing.T) {
	fixture.Long(t)
	r := fixture.Start(t, fixture.Build(t, "states"), "collector")
	taken, collecting, working := 0, 0, 0
	for ; taken < 3000 && (collecting < 10 || working == 0); taken += 100 {
		rec := record(t, r, 100)
		for i, gs := range samples(rec, "runtime.gcBgMarkWorker") {
			if !rec.Samples.At(i).Collecting {
				continue
			}
			collecting++
			if slices.ContainsFunc(gs, func(s seen) bool { return s.state.Run == sampledata.Running }) {
				working++
			}
		}
		for _, g := range rec.Goroutines.All() {
			if worker := rec.Functions[g.Start].Name == "runtime.gcBgMarkWorker"; g.GC != worker || worker && !g.System {
				t.Errorf("goroutine %+v, a worker: %v", g, worker)
			}
		}
	}
	t.Logf("%d of %d samples while collecting, in %d a worker runs", collecting, taken, working)
	if collecting < 10 || working == 0 {
		t.Errorf("%d of %d samples while collecting, in %d a worker runs", collecting, taken, working)
	}
}

// Many goroutines at one place share one stack, and cost nothing
// once they are known.
func TestParked(t *testing.T) {
	const n = 2000
	r := fixture.Start(t, fixture.Build(t, "states"), "parked", fmt.Sprint(n))
	awaitParked(t, r, "main.worker")
	rec := record(t, r, 5)
	stacks := map[sampledata.NodeID]int{}
	runs := 0
	for _, run := range rec.Runs.All() {
		if rec.Functions[rec.Goroutines.At(run.Goroutine).Start].Name == "main.worker" {
			stacks[run.Stack]++
			runs++
		}
	}
	if runs != n || len(stacks) != 1 {
		t.Errorf("%d runs at %d stacks, want %d at one", runs, len(stacks), n)
	}
	for _, s := range rec.Samples.All() {
		t.Logf("halt of %v", s.Halt)
	}
}
