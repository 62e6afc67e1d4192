package tui

import (
	"path/filepath"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/tui/session"
)

// compared returns an Analyzer on a recording that is compared
// with an earlier one.
func compared(t *testing.T) *bench {
	before := writtenTwin(t, "before")
	return newBench(t, Options{
		Path: filepath.Join(filepath.Dir(before), "after.cpprof"), Recording: twin(t, "after"),
		Against: &Against{Path: before, Recording: twin(t, "before")},
	})
}

// The Summary, the locks, and the windows that are opened from
// them compare.
func TestEveryWindowCompares(t *testing.T) {
	b := compared(t)
	b.shows(" old: ", " new: ", "was  alive  Δidle  ΔRUN  ΔLOAD  ΔPRIO  ΔMON  ΔWAIT moved▼ class",
		"3.0    3.0      0   -33      0      0   +33      0     33 go:main.worker", "3.0 alive on average, 3.0 before; it spends 33.3 % of its")
	b.resize(200, 24)
	b.shows(" time old ", " time new ")
	b.keys("Enter")
	b.shows(" 2 Δ go:main.worker", "new  change")
	b.keys("1", "s")
	b.shows(" 3 Δ Server", "new  change")
	b.keys("1", "Enter")
	b.hides(" 4 ")
	b.keys("L")
	b.shows(" 4 Δ Locks", "mean old   new  change", "0.25  1.25   +1.00", "0.25   1.25   +1.00  go:main.worker in main.(*journal).add")
	b.keys("i")
	b.shows("a comparison has no instances")
	b.keys("Enter")
	b.shows(" 5 Δ go:main.worker", "›0.083   0.417  +0.333")
	b.keys("4", "h")
	b.shows(" 6 Δ Holders", "new  change", "lock taken in main.(*journal).add")
}

// The order of the Summary, and of a comparison's entries, can
// be by what changed, or by own time.
func TestComparisonsAreOrdered(t *testing.T) {
	b := compared(t)
	b.click("ΔRUN")
	b.shows("ΔRUN▼")
	b.keys("r")
	b.shows("ΔRUN▲")
	b.keys("Enter", "e", "s")
	b.shows(" change      Δown  call path", "0.833   0.333  -0.500    -0.500      ..crypto/sha256.Sum256")
	b.keys("o", "G")
	b.shows("0.000    ")
	b.keys("%")
	b.shows("A comparison shows the costs in both recordings")
}

// The Summary's comparison is saved and restored; "against none" ends it.
func TestComparedSummaryIsRestored(t *testing.T) {
	b := compared(t)
	data, err := b.kept().Marshal()
	fixture.Check(t, err)
	o := Options{Path: b.path, Recording: b.recording}
	if o.Session, err = session.Parse(data, SessionKinds()); err != nil || o.Session.Summary.Against != "../before.cpprof" && o.Session.Summary.Against != "before.cpprof" {
		t.Fatalf("%v: it keeps %+v", err, o.Session)
	}
	fixture.Check(t, o.Recording.Write(o.Path))
	o.Session.Summary.Against = "../before.cpprof" // the recording is a folder now
	again := newBench(t, o)
	again.shows("ΔRUN", "+33")
	again.line(":against none")
	again.hides("ΔRUN")
	again.shows("alive▼")
	if s := again.kept().Summary; s.Against != "" {
		t.Errorf("it still keeps %+v", s)
	}
	again.line(":against nowhere.cpprof")
	again.shows("nowhere.cpprof")
	again.keys("Esc")
	again.line(":against " + filepath.Join(filepath.Dir(o.Path), "before.cpprof"))
	again.shows("ΔRUN", "+33")
}

// If the other recording can't be read, the Summary shows this
// one alone and says why.
func TestComparedWithNothing(t *testing.T) {
	o := Options{Path: "after.cpprof", Recording: twin(t, "after"), Session: &session.State{Summary: session.Summary{Against: "../gone.cpprof"}}}
	b := newBench(t, o)
	b.shows("comparing with", "gone.cpprof", "alive▼")
	if s := b.kept().Summary; s.Against == "" {
		t.Error("what it compared with is forgotten")
	}
}

// A class that only one recording has is shown, and its view is
// of that recording alone.
func TestClassOfOneRecording(t *testing.T) {
	b := newBench(t, Options{Path: "bob.cpprof", Recording: twin(t, "bob"), Against: &Against{Path: "before.cpprof", Recording: twin(t, "before")}})
	b.keys("H")
	b.shows("only in the new recording, with", "go:main.worker")
	b.line("/main.worker")
	b.shows("only in the old recording, with 3.0 alive")
	b.keys("Enter")
	b.shows("Only before.cpprof has goroutines of this class.")
	b.line("/terminal")
	b.keys("Enter")
	b.shows("Thread View of go:bob.(*terminal).run", "before.cpprof has no goroutine of this class")
}
