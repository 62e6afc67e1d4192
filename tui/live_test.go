package tui

import (
	"math/big"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/locks"
)

// A growing recording has one goroutine, which calls a function
// in one half of the samples and waits in the other. A test adds
// a number of samples at a time.
type growing struct {
	t       testing.TB
	b       *sampledata.Builder
	states  [2]sampledata.State
	worker  sampledata.GoroutineID
	samples int
	ended   chan struct{}
}

func newGrowing(t testing.TB) *growing {
	g := &growing{t: t, b: sampledata.NewBuilder(synthetic.Header()), ended: make(chan struct{})}
	work := g.b.Function(sampledata.Function{Name: "main.work"})
	parse := g.b.Function(sampledata.Function{Name: "main.parse"})
	root := g.b.Node(sampledata.Node{Parent: sampledata.NoStack, Function: work})
	g.worker = g.b.Goroutine(sampledata.Goroutine{ID: 7, Start: work})
	g.states[0] = sampledata.State{Stack: g.b.Node(sampledata.Node{Parent: root, Function: parse}), Run: sampledata.Running}
	g.states[1] = sampledata.State{Stack: root, Run: sampledata.Waiting, Reason: "select"}
	return g
}

func (g *growing) grow(samples int) {
	g.t.Helper()
	for range samples {
		s := sampledata.Sample{Time: time.Duration(g.samples) * 10 * time.Millisecond, Processors: []sampledata.GoroutineID{sampledata.IdleProcessor}}
		if g.samples%2 == 0 {
			s.Processors[0] = g.worker
		}
		fixture.Check(g.t, g.b.Sample(s, []sampledata.Change{{Goroutine: g.worker, State: g.states[g.samples%2]}}))
		g.samples++
	}
}

func (g *growing) options() Options {
	return Options{Path: "live.cpprof", Recording: g.b.Recording(), Live: &Live{
		Recording: g.b.Recording, Ended: g.ended, Note: "the program's output: live.log",
		Outcome: func() string { return "the target exited with status 3" },
	}}
}

// passTime acts as if enough time has passed for an update.
func (b *bench) passTime() {
	b.t.Helper()
	b.do(func() { b.live.next = time.Time{}; b.summary().timeline.next = time.Time{}; b.live.renew() })
	b.waitForJobs()
}

// A recording is shown as it grows. What was selected, refined
// and collapsed stays; its end is reported.
func TestLive(t *testing.T) {
	g := newGrowing(t)
	b := newBench(t, g.options())
	b.shows("● recording", "q ends it; the program's output: live.log")
	g.grow(100)
	b.hides("go:main.work: 1 goroutine, 100 hits")
	b.passTime()
	b.shows("100 samples of server", "go:main.work: 1 goroutine, 100 hits", "990ms, up to 1.0 goroutines")

	b.keys("Enter", "d", "j", "d", "j", "j")
	b.shows("Thread View of go:main.work  990.00 ms = 1.000", "█›0.500    50        main.parse")
	g.grow(60)
	b.passTime()
	b.shows("Thread View of go:main.work  1.6 s = 1.000", "█›0.500    80        main.parse", "● recording")

	b.keys("1")
	b.passTime()
	b.shows("160 samples of server")
	b.keys("t", "G", "Space", "H", "Enter") // a span to the end grows
	var before int64
	b.do(func() { before = b.summary().classes[0].New.Hits })
	g.grow(40)
	b.passTime()
	b.do(func() {
		if now := b.summary().classes[0].New.Hits; now != before+40 {
			t.Errorf("the span had %d hits and has %d", before, now)
		}
	})
	b.keys("Esc")

	g.grow(100)
	if err := g.b.Finish(sampledata.End{Cause: sampledata.EndExited, ExitStatus: 3, Time: 2990 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	go b.live.watch(t.Context())
	close(g.ended)
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		var ended bool
		b.do(func() { ended = !b.live.growing() })
		if ended {
			break
		}
		if time.Since(began) > time.Minute {
			t.Fatal("the end is not reported")
		}
	}
	b.waitForJobs()
	b.shows("■ ended", "■ the recording has ended: the target exited with status 3", "The recording has ended: the target", "300 samples of server")
	b.hides("● recording")
	b.keys("2")
	b.shows("Thread View of go:main.work  3.0 s = 1.000", "█›0.500   150        main.parse")
}

// A view that opens within the first hits opens its levels as
// soon as they have enough, until a person refines it.
func TestLiveOpensLater(t *testing.T) {
	g := newGrowing(t)
	o := g.options()
	o.Levels, o.Threshold = 2, refine.Threshold{Hits: new(big.Rat).SetInt64(10)}
	b := newBench(t, o)
	g.grow(4)
	b.passTime()
	b.keys("Enter")
	b.shows("Thread View of go:main.work", "1.000     4  ▾ go:main.work +1")
	b.hides("main.parse")
	g.grow(36)
	b.passTime()
	b.shows("40    ▾ main.work", "20        main.parse")
	b.keys("U")
	b.hides("main.parse")
	g.grow(100)
	b.passTime()
	b.hides("main.parse")
}

// The user's actions come first: while a job runs, nothing is refreshed.
func TestLiveWaitsForJobs(t *testing.T) {
	g := newGrowing(t)
	b := newBench(t, g.options())
	g.grow(10)
	release := make(chan struct{})
	b.do(func() {
		start(b.app, b.window(), "Waiting", func() (bool, error) { <-release; return true, nil }, func(bool, error) {})
		b.live.renew()
		if b.recording.Samples.Len() > 0 {
			t.Error("the recording was replaced while a job runs")
		}
	})
	close(release)
	b.waitForJobs()
	b.passTime()
	b.shows("10 samples of server")
}

// A deadlock is reported in every window, also during a job,
// until the next key; the summary still shows it after that.
func TestLiveDeadlock(t *testing.T) {
	g := newGrowing(t)
	o := g.options()
	var found []locks.Deadlock
	o.Live.Deadlocks = func() []locks.Deadlock { return found }
	b := newBench(t, o)
	g.grow(100)
	b.passTime()
	b.hides("DEADLOCK")
	b.keys("Enter")
	find := func(goroutines ...int64) {
		var d locks.Deadlock
		for _, g := range goroutines {
			d.Members = append(d.Members, locks.Member{Goroutine: g})
		}
		b.do(func() { found = append(found, d) })
	}
	find(7, 8)
	release := make(chan struct{})
	b.do(func() {
		start(b.app, b.window(), "Waiting", func() (bool, error) { <-release; return true, nil }, func(bool, error) {})
		b.live.renew()
		if want := "DEADLOCK of goroutines 7, 8, each waiting for a lock of the next; L shows it"; b.message.text != want {
			t.Errorf("it says %q, want %q", b.message.text, want)
		}
	})
	close(release)
	b.waitForJobs()
	b.passTime()
	b.shows("Thread View", "DEADLOCK of goroutines 7, 8, each")
	b.keys("1")
	b.passTime()
	b.shows("● recording; q ends it; 1 DEADLOCK (key L); the program's output")
	b.hides("goroutines 7, 8")
	find(9, 10, 11)
	b.passTime()
	b.shows("2 DEADLOCKS (key L)", "DEADLOCK of goroutines 9, 10, 11, each")
	b.do(func() { b.live.conclude() })
	b.waitForJobs()
	b.shows("■ the recording has ended; 2 DEADLOCKS (key L): the target exited")
}

// Without colours, the badge differs by its shape and words; the
// tabs leave room for it.
func TestLiveBadge(t *testing.T) {
	g := newGrowing(t)
	g.grow(20)
	o := g.options()
	o.NoColor = true
	b := newBench(t, o)
	b.passTime()
	for range 6 {
		b.keys("1", "Enter")
	}
	b.shows(" 7 go:main.work ", " ● recording\n")
	b.keys("1")
	b.shows("› ● recording\n")
}
