package tui

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/config"
	"github.com/cpprof/cpprof/internal/bigtree"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// busy gives the window in front a job that lasts until the returned function is called.
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
	b.settle()
	if got != 7 {
		t.Errorf("the job gave %d", got)
	}
	b.shows("▾ ..:MONITOR")
}

// What is typed ahead goes where it would have gone: into the prompt that an earlier key opens.
func TestTypingAheadReachesThePrompt(t *testing.T) {
	b := bobThread(t)
	finish := b.busy(func(int, error) {})
	for _, key := range []string{"/", "1", "M", "Backspace", "Backspace", "M", "O", "N", "Enter", "d"} {
		b.press(key)
	}
	finish()
	b.settle()
	b.shows("▾ ..:MONITOR", " 2 "+terminals[:10])
}

func TestEscCancelsAJob(t *testing.T) {
	b := bobThread(t)
	var given error
	calls := 0
	finish := b.busy(func(_ int, err error) { calls++; given = err })
	b.press("G")
	b.press("Esc")
	b.settle()
	if !errors.Is(given, context.Canceled) {
		t.Errorf("a cancelled job gives %v", given)
	}
	b.shows("Counting sheep: cancelled.")
	finish()
	b.keys("j")
	if label := b.chosen(); label != "bob.(*terminal).run" || calls != 1 {
		t.Errorf("%q is selected, %d results", label, calls)
	}
}

// What a menu chooses while the view is built anew is done to the new view; and a cancelled job does not take along that
// the window is to be shown anew.
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
	b.settle()
	b.shows("single", "pruned to go:", "0.800   120  ▾ "+terminals)
	finish = b.busy(func(int, error) {})
	b.do(func() {
		b.options.Accounting = views.Observed
		b.changed()
	})
	b.press("Esc")
	b.settle()
	b.hides("single")
	b.do(func() {
		b.options.Accounting = views.Processors
		b.changed()
	})
	b.settle()
	b.shows("processors")
	finish()
}

// While one window is busy, the others are not.
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
	b.settle()
}

// A finished screen is one whose Fini was called.
type finished struct {
	tcell.SimulationScreen
	calls int
}

func (f *finished) Fini() { f.calls++; f.SimulationScreen.Fini() }

// A panic beside the loop ends the program only when the terminal was given back.
func TestAPanicInAJobReachesTheLoop(t *testing.T) {
	screen := &finished{SimulationScreen: tcell.NewSimulationScreen("")}
	if err := screen.Init(); err != nil {
		t.Fatal(err)
	}
	o := bob(t)
	o.Config = config.Default()
	a := newApp(o, screen)
	caught := make(chan any)
	go func() {
		defer func() { caught <- recover() }()
		_ = a.tv.Run()
	}()
	a.post(func() {
		start(a, a.window(), "Falling", func() (int, error) { panic("over the edge") }, func(int, error) {})
	})
	text, ok := (<-caught).(string)
	if !ok || !strings.HasPrefix(text, "over the edge") || !strings.Contains(text, "jobs_test.go") {
		t.Errorf("the panic says %q", text)
	}
	if screen.calls == 0 {
		t.Error("the terminal was not given back")
	}
}

// largeProfile puts a call tree of a million nodes into a profile window.
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

// A refinement of a million nodes is under way when the key's event has been dealt with, and its result is shown when it
// is there: the loop goes on meanwhile.
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
		b.settle()
		b.keys("G")
	}
	var steps []refine.Step
	b.do(func() { steps = b.profile().session.Steps() })
	if len(steps) != 3 || steps[2].Kind != refine.KindUp {
		t.Errorf("the steps are %v", steps)
	}
}

// BenchmarkKeyToScreen is the time from a key to what it brings on the screen, on a million nodes.
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
