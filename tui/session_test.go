package tui

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cpprof/cpprof/aspects"
	"github.com/cpprof/cpprof/internal/config"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/tui/session"
	"github.com/gdamore/tcell/v2"
)

// kept returns the state that a session keeps of the bench's app.
func (b *bench) kept() (s *session.State) {
	b.t.Helper()
	b.waitForJobs()
	b.do(func() { s = b.state() })
	return s
}

// screens returns the texts of all windows.
func (b *bench) screens() (texts []string) {
	b.t.Helper()
	var n, active int
	b.do(func() { n, active = len(b.windows), b.active })
	for i := range n {
		b.do(func() { b.message = message{}; b.show(i) })
		b.waitForJobs()
		texts = append(texts, b.text())
	}
	b.do(func() { b.show(active) })
	return texts
}

// The windows of a session are restored on every screen.
func TestSessionIsRestored(t *testing.T) {
	b := newBench(t, bob(t))
	b.keys(":")
	b.line("span 100ms 1.4s")
	b.keys("Enter", "d", "j", "d", "e", "[", "[")
	b.keys(":")
	b.line("prune * ..:MONITOR")
	b.keys("1", "s", "e", "G", "u", "]", "g", "Space")
	b.keys(":")
	b.line("accounting single")
	b.keys("2", "j", "m", "j", "m")
	before, kept := b.screens(), b.kept()
	if len(kept.Windows) != 2 || kept.Active != 1 {
		t.Fatalf("it keeps %+v", kept)
	}
	first := kept.Windows[0].(*session.Profile)
	if len(first.Steps) < 4 || len(first.Labels) != 2 {
		t.Fatalf("it keeps %+v", kept)
	}
	data := fixture.Must(kept.Marshal())(t)
	o := bob(t)
	o.Session = fixture.Must(session.Parse(data, SessionKinds()))(t)
	again := newBench(t, o)
	after := again.screens()
	for i := range before {
		if i >= len(after) || before[i] != after[i] {
			t.Errorf("window %d was\n%s\nand is\n%s", i+1, before[i], slices.Concat(after, make([]string, len(before)))[i])
		}
	}
	if !strings.Contains(after[1], report.LabelMark) {
		t.Errorf("no label is shown:\n%s", after[1])
	}
	showSameAsText(t, o, after[1:])
	twice, err := again.kept().Marshal()
	if err != nil || string(twice) != string(data) {
		t.Errorf("%v: it keeps\n%s\nafter it was restored\n%s", err, data, twice)
	}
	again.keys("U")
	if n := len(again.kept().Windows[0].(*session.Profile).Steps); n != len(first.Steps)-1 {
		t.Errorf("a restored step can't be undone: there are %d steps", n)
	}
}

// What the Summary shows is restored: classes that only wait for
// work, the filter, and the order.
func TestSummaryIsRestored(t *testing.T) {
	b := newBench(t, manyClasses(t, 40))
	b.keys("H", "f")
	b.line("pkg1")
	b.keys("O", "O", "r")
	b.keys("g", "L", "i", "1")
	data := fixture.Must(b.kept().Marshal())(t)
	o := manyClasses(t, 40)
	o.Session = fixture.Must(session.Parse(data, SessionKinds()))(t)
	if want := (session.Summary{Filter: "pkg1", Order: o.Session.Summary.Order, Reversed: true}); !reflect.DeepEqual(o.Session.Summary, want) || want.Order == "" {
		t.Errorf("it keeps %+v", o.Session.Summary)
	}
	if l := o.Session.Windows[0].(*session.Locks); !l.Instances {
		t.Error("the locks are not kept by instance")
	}
	again := newBench(t, o)
	again.hides("pkg01")
	if want, got := b.text(), again.text(); want != got {
		t.Errorf("it was\n%s\nand is\n%s", want, got)
	}
	again.keys("f")
	again.line("nosuch")
	again.shows("no class has \"pkg1nosuch\" in its name: f changes the filter")
}

// showSameAsText compares screens of profile windows with the
// text of the session's windows.
func showSameAsText(t *testing.T, o Options, screens []string) {
	t.Helper()
	conf := *config.Default()
	src := session.Source{Path: o.Path, Recording: o.Recording, Config: &conf, Options: o.Session.Configure(&conf)}
	for i, w := range o.Session.Windows {
		r := fixture.Must(w.Report(&src))(t)
		var text strings.Builder
		r.Write(&text)
		if strings.Contains(text.String(), "left out") {
			t.Errorf("a step is left out:\n%s", text.String())
		}
		if want, got := entryLines(text.String()), entryLines(screens[i]); len(want) == 0 || !slices.Equal(want, got) {
			t.Errorf("window %d has the entries\n%s\nand its text has\n%s", i+1, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// entryLines returns the lines that begin with a cost, without
// the parts that only a screen has.
func entryLines(text string) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" █▓▒░·›▾▸", r) })
		if len(fields) > 2 && (strings.HasPrefix(fields[0], "0.") || strings.HasPrefix(fields[0], "1.")) {
			lines = append(lines, strings.Join(fields, " "))
		}
	}
	return lines
}

// Only aspects that were defined in the Analyzer are kept; the
// others come from the configuration.
func TestSessionKeepsNewAspects(t *testing.T) {
	aspect := func(name string, patterns ...string) aspects.Aspect {
		return fixture.Must(aspects.New(name, patterns...))(t)
	}
	given := new(aspects.Set).With(aspect("same", "a*"), aspect("other", "b*"), aspect("gone", "c*"))
	now := new(aspects.Set).With(aspect("same", "a*"), aspect("other", "b*", "!bc"), aspect("new", "d*"))
	list := defined(given, now)
	var names []string
	for _, a := range list {
		names = append(names, a.Name())
	}
	if want := []string{"@other", "@new", "@gone"}; !slices.Equal(names, want) {
		t.Errorf("it keeps %v, want %v", names, want)
	}
	again := given.With(list...)
	if len(defined(now, again)) > 0 || len(defined(again, now)) > 0 {
		t.Errorf("restored, they are %v, want %v", again.Names(), now.Names())
	}
	o := bob(t)
	o.Config = config.Default()
	o.Config.Aspects = given
	o.Session = &session.State{Aspects: list}
	b := newBench(t, o)
	if kept := b.kept().Aspects; len(defined(new(aspects.Set).With(list...), new(aspects.Set).With(kept...))) > 0 {
		t.Errorf("after it was restored, it keeps %v", kept)
	}
	if len(o.Config.Aspects.All()) != 3 {
		t.Error("the caller's configuration has changed")
	}
}

// Keep is called when the user leaves, and when a signal ends
// the Analyzer.
func TestSessionIsKeptAtTheEnd(t *testing.T) {
	for _, bySignal := range []bool{false, true} {
		sim := &shownScreen{SimulationScreen: tcell.NewSimulationScreen(""), shown: make(chan struct{})}
		o := bob(t)
		o.Config, o.Screen = config.Default(), sim
		o.Windows = []session.Window{&session.Profile{Class: "go:main.main"}}
		var kept *session.State
		o.Keep = func(s *session.State) { kept = s }
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error)
		go func() { ended <- Run(ctx, o) }()
		if bySignal {
			cancel()
		} else {
			<-sim.shown
			sim.InjectKey(tcell.KeyRune, 'q', tcell.ModNone)
		}
		if err := <-ended; (err != nil) != bySignal {
			t.Error(err)
		}
		if kept == nil || len(kept.Windows) != 1 || kept.Windows[0].(*session.Profile).Class != "go:main.main" {
			t.Errorf("it keeps %+v", kept)
		}
	}
}

// A shownScreen closes a channel when it is first shown.
type shownScreen struct {
	tcell.SimulationScreen
	once  sync.Once
	shown chan struct{}
}

func (s *shownScreen) Show() {
	s.SimulationScreen.Show()
	s.once.Do(func() { close(s.shown) })
}
