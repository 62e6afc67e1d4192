package tui

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/bench/bigtree"
	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// busy starts a job for the active window that lasts until the
// returned function is called.
func (b *bench) busy(then func(int, error)) (finish func()) {
	gate := make(chan struct{})
	b.do(func() {
		start(b.app, b.app.window(), "Counting sheep", func() (int, error) { <-gate; return 7, nil }, then)
	})
	return func() { close(gate) }
}

func TestKeysWaitForAJob(t *testing.T) {
	b := bobThread(t)
	got := 0
	finish := b.busy(func(n int, _ error) { got = n })
	b.press("G")
	b.press("d")
	if label := b.chosen(); label != terminals {
		t.Errorf("a key was not kept until the job ended: %q is selected", label)
	}
	finish()
	b.waitForJobs()
	if got != 7 {
		t.Errorf("the job returned %d", got)
	}
	b.shows("▾ ..:MONITOR")
}

// Keys that are typed ahead reach the same target as keys that
// wait: here the prompt that an earlier key opens.
func TestTypingAheadReachesThePrompt(t *testing.T) {
	b := bobThread(t)
	finish := b.busy(func(int, error) {})
	for _, key := range []string{"/", "1", "M", "Backspace", "Backspace", "M", "O", "N", "Enter", "d"} {
		b.press(key)
	}
	finish()
	b.waitForJobs()
	b.shows("▾ ..:MONITOR", " 2 "+terminals[:10])
}

func TestEscCancelsAJob(t *testing.T) {
	b := bobThread(t)
	var given error
	calls := 0
	finish := b.busy(func(_ int, err error) { calls++; given = err })
	b.press("G")
	b.press("Esc")
	b.waitForJobs()
	if !errors.Is(given, context.Canceled) {
		t.Errorf("a cancelled job returned %v", given)
	}
	b.shows("Counting sheep: cancelled.")
	finish()
	b.keys("j")
	if label := b.chosen(); label != "bob.(*terminal).run" || calls != 1 {
		t.Errorf("%q is selected, %d results", label, calls)
	}
}

// A choice in a menu while the view is being rebuilt applies to
// the new view. A cancelled job does not cancel the refresh that
// waits for it.
func TestRefreshAmongJobs(t *testing.T) {
	b := bobThread(t)
	b.keys("G", "p")
	finish := b.busy(func(int, error) {})
	b.do(func() {
		b.options.Accounting = views.Single
		b.changed()
	})
	b.press("o")
	finish()
	b.waitForJobs()
	b.shows("single", "pruned to go:", "0.800   120  ▾ "+terminals)
	finish = b.busy(func(int, error) {})
	b.do(func() {
		b.options.Accounting = views.Observed
		b.changed()
	})
	b.press("Esc")
	b.waitForJobs()
	b.hides("single")
	b.do(func() {
		b.options.Accounting = views.Processors
		b.changed()
	})
	b.waitForJobs()
	b.shows("processors")
	finish()
}

// While one window has a job, the others react to keys.
func TestOtherWindowsGoOn(t *testing.T) {
	b := bobThread(t)
	finish := b.busy(func(int, error) {})
	for !strings.Contains(b.text(), "Counting sheep … ") {
	}
	b.press("1")
	b.hides("Counting sheep")
	b.press("?")
	b.shows("Keys of this window")
	b.press("Esc")
	b.press("Tab")
	b.shows("Counting sheep")
	b.press("x")
	b.hides("2 go:bob")
	finish()
	b.waitForJobs()
}

// A finished screen records whether its Fini was called.
type finished struct {
	tcell.SimulationScreen
	calls int
}

func (f *finished) Fini() { f.calls++; f.SimulationScreen.Fini() }

// A panic on another goroutine ends the program only after the
// terminal is restored.
func TestAPanicInAJobReachesTheLoop(t *testing.T) {
	screen := &finished{SimulationScreen: tcell.NewSimulationScreen("")}
	fixture.Check(t, screen.Init())
	o := bob(t)
	o.Config = config.Default()
	a := newApp(o, newTerminal(screen, nil))
	caught := make(chan any)
	go func() {
		defer func() { caught <- recover() }()
		defer a.terminal.end()
		_ = a.run(t.Context())
	}()
	a.post(func() {
		start(a, a.window(), "Falling", func() (int, error) { panic("over the edge") }, func(int, error) {})
	})
	text, ok := (<-caught).(string)
	if !ok || !strings.HasPrefix(text, "over the edge") || !strings.Contains(text, "jobs_test.go") {
		t.Errorf("the panic says %q", text)
	}
	if screen.calls == 0 {
		t.Error("the terminal was not restored")
	}
}

// largeProfile opens a profile window with a call tree of a million nodes.
func largeProfile(t testing.TB, nodes int) *bench {
	b := bobThread(t)
	tree := bigtree.New(nodes, 5_000)
	members := bigtree.Membership(tree)
	b.do(func() {
		w := b.profile()
		w.session = refine.NewSession(tree, members)
		w.session.SetThreshold(refine.Threshold{Hits: hits(refine.DefaultMinHits)})
		w.entries.selected = w.session.Root().Key()
		w.update()
	})
	return b
}

// A refinement of a million nodes runs on another goroutine: the
// key's event ends before it, the loop continues meanwhile, and
// the result appears when it is known.
func TestAMillionNodesDoNotBlockTheLoop(t *testing.T) {
	b := largeProfile(t, 1_000_000)
	for _, key := range []string{"d", "e", "u"} {
		b.do(func() {
			w := b.profile()
			before := len(w.session.Steps())
			b.app.key(tcell.NewEventKey(tcell.KeyRune, []rune(key)[0], tcell.ModNone))
			if b.jobs[w] == nil || len(w.session.Steps()) != before {
				t.Errorf("%s was refined in the event loop", key)
			}
		})
		b.waitForJobs()
		b.keys("G")
	}
	var steps []refine.Step
	b.do(func() { steps = b.profile().session.Steps() })
	if len(steps) != 3 || steps[2].Kind != refine.KindUp {
		t.Errorf("the steps are %v", steps)
	}
}

// BenchmarkKeyToScreen measures the time from a key to its
// result on the screen, on a million nodes.
func BenchmarkKeyToScreen(b *testing.B) {
	for _, key := range []string{"d", "e"} {
		b.Run(key, func(b *testing.B) {
			p := largeProfile(b, 1_000_000)
			for b.Loop() {
				p.keys(key)
				p.text()
				p.keys("U")
			}
		})
	}
}
