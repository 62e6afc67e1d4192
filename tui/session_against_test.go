package tui

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/tui/session"
)

// A comparison is restored with its refinements, also if both
// recordings were moved. If the other one is missing, the window
// shows an error, and is kept.
func TestComparisonIsRestored(t *testing.T) {
	before := filepath.Join(t.TempDir(), "before")
	for _, name := range []string{"after", "before"} {
		fixture.Check(t, os.MkdirAll(before, 0o777))
		fixture.Check(t, twin(t, name).Write(filepath.Join(before, name+".cpprof")))
	}
	o := Options{Path: filepath.Join(before, "after.cpprof"), Recording: twin(t, "after")}
	o.Windows = []session.Window{&session.Profile{Class: "go:main.worker"}}
	b := newBench(t, o)
	b.line(":against " + filepath.Join(before, "before.cpprof"))
	b.keys("a", "j", "m", "1", "s", "3")
	kept := b.kept()
	if len(kept.Windows) != 3 || kept.Active != 2 {
		t.Fatalf("it keeps %+v", kept)
	}
	if c, ok := kept.Windows[1].(*session.Comparison); !ok || c.Against != "../before.cpprof" || len(c.Labels) != 1 {
		t.Fatalf("it keeps %+v", kept)
	}
	data := fixture.Must(kept.Marshal())(t)
	after := filepath.Join(filepath.Dir(before), "moved")
	fixture.Check(t, os.Rename(before, after))
	o = Options{Path: filepath.Join(after, "after.cpprof"), Recording: o.Recording}
	o.Session = fixture.Must(session.Parse(data, SessionKinds()))(t)
	again := newBench(t, o)
	want, got := b.screens(), again.screens()
	for i := range want {
		if i >= len(got) || strings.Join(entryLines(want[i]), "\n") != strings.Join(entryLines(got[i]), "\n") {
			t.Fatalf("window %d was\n%s\nof windows that are\n%s", i, want[i], got)
		}
	}
	again.shows(" 3 Δ go:main.worker", "0.167   0.667  +0.500")
	twice, err := again.kept().Marshal()
	if err != nil || string(twice) != string(data) {
		t.Errorf("%v: it keeps\n%s\nafter it was restored\n%s", err, data, twice)
	}

	fixture.Check(t, os.RemoveAll(filepath.Join(after, "before.cpprof")))
	without := newBench(t, o)
	without.shows("comparing with", "before.cpprof")
	if got := without.screens(); len(got) != 4 || strings.Join(entryLines(got[1]), "\n") != strings.Join(entryLines(want[1]), "\n") {
		t.Errorf("the rest is\n%s", got)
	}
	if twice, err := without.kept().Marshal(); err != nil || string(twice) != string(data) {
		t.Errorf("%v: it keeps\n%s\nwithout the other recording\n%s", err, data, twice)
	}
}

// The window of the locks is restored in its position.
func TestLocksAreRestored(t *testing.T) {
	b := bobThread(t)
	b.keys("L", "1", "s", "3")
	o := bob(t)
	o.Session = b.kept()
	if w := o.Session.Windows; len(w) != 3 || w[1].Kind().Name != "locks" || o.Session.Active != 2 {
		t.Fatalf("it keeps %+v", o.Session)
	}
	again := newBench(t, o)
	if want, got := b.screens(), again.screens(); !slices.Equal(want, got) {
		t.Errorf("the windows were\n%s\nand are\n%s", want, got)
	}
	again.shows(" 3 Locks ", "lock taken in bob.(*manager).transact")
}

// If the Analyzer is opened with a comparison that the session
// has, it is not opened twice.
func TestComparisonOpenedAgain(t *testing.T) {
	o := Options{
		Path: "after.cpprof", Recording: twin(t, "after"),
		Against: &Against{Path: "before.cpprof", Recording: twin(t, "before")}, Windows: threadWindow("go:main.worker"),
	}
	b := newBench(t, o)
	o.Session = b.kept()
	again := newBench(t, o)
	if n := len(again.kept().Windows); n != 1 {
		t.Errorf("there are %d windows", n)
	}
}

// The columns of typed time and of the interval are of the
// difference, as the last of the costs is.
func TestColumnsOfAComparison(t *testing.T) {
	before := filepath.Join(t.TempDir(), "before.cpprof")
	fixture.Check(t, twin(t, "before").Write(before))
	b := newBench(t, Options{Path: "after.cpprof", Recording: twin(t, "after"), Windows: []session.Window{&session.Profile{Class: "go:main.worker"}}})
	b.line(":against " + before)
	b.keys("a", "t", "i")
	screen := strings.Join(entryLines(b.screens()[2]), "\n")
	for _, want := range []string{
		"1.000 1.000 0.000 - -.33 .33 go:main.worker",       // less :RUN, more :MONITOR
		"0.167 0.667 +0.500 ±0.144 .17 .33 main.(*journal)", // more of both
		"0.083 0.417 +0.333 ±0.095 .33 sync.(*Mutex)",       // more :MONITOR
		"0.083 0.083 0.000 ±0.069 main.(*journal",           // the same
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("no line %q in\n%s", want, screen)
		}
	}
}
