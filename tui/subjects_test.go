package tui

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/session"
)

func TestHoldersWindow(t *testing.T) {
	b := bobThread(t)
	b.resize(160, 30)
	b.keys("L", "h")
	b.keys("v")
	b.shows("Locks, their holders and what these do", "Waited for by", terminals+" in bob.(*manager).transact")
	b.shows("0.667    80              bob.(*manager).stamp")
	var windows int
	b.do(func() { windows = len(b.state().Windows) })
	if windows != 2 {
		t.Errorf("%d windows are kept, want the Thread View and the locks", windows)
	}
}

// The costs are those of the README's comparison of the two builds.
func TestComparisonWindow(t *testing.T) {
	b := newBench(t, Options{Path: "after.cpprof", Recording: twin(t, "after")})
	other := twin(t, "before")
	b.do(func() {
		read := func() (*sampledata.Recording, error) { return other, nil }
		b.openComparison("before.cpprof", read, session.Profile{Class: "go:main.worker"})
	})
	b.settle()
	b.keys("Enter")
	b.shows("A: after.cpprof  B: before.cpprof", "1.000   1.000   0.000", "0.667   0.167  +0.500", "main.(*journal).add", "0.333   0.833  -0.500")
	b.keys("x", "Enter")
	b.line(":against nowhere.cpprof")
	b.shows("nowhere.cpprof")
}

// What the Analyzer is opened with can be a comparison.
func TestComparisonFromTheStart(t *testing.T) {
	b := newBench(t, Options{
		Path: "after.cpprof", Recording: twin(t, "after"),
		Against: &Against{Path: "before.cpprof", Recording: twin(t, "before"), Class: "go:main.worker"},
	})
	b.shows(" 2 Δ go:main.worker", "A: after.cpprof  B: before.cpprof")
	b.do(b.changed)
	b.settle()
	b.shows("1.000   1.000   0.000")
}

// A comparison stands, and is written, as 'cpprof report --against' has it: what changed most first. A span is that of the
// first recording, and both say so.
func TestComparisonIsWritten(t *testing.T) {
	b := newBench(t, Options{
		Path: "after.cpprof", Recording: twin(t, "after"),
		Against: &Against{Path: "before.cpprof", Recording: twin(t, "before"), Class: "go:main.worker"},
	})
	b.resize(140, 30)
	b.keys("a", "j", "m")
	b.shows("  label  call path")
	file := filepath.Join(t.TempDir(), "both")
	b.line(":write " + file)
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, got := entryLines(string(written)), entryLines(b.text())
	if len(want) < 5 || !slices.Equal(want, got) {
		t.Errorf("the window has\n%s\nwhere what is written has\n%s", strings.Join(got, "\n"), written)
	}
	if !strings.HasPrefix(string(written), "Thread View of go:main.worker (observed accounting): A is after.cpprof, B is before.cpprof\n") {
		t.Errorf("it begins with %.100q", written)
	}
	b.keys("1")
	b.line(":span 0s 1s")
	b.keys("2")
	b.keys("v")
	b.shows("only 0s to 1s of A", "A counts 19 samples of 48: 0s to 1s")
	b.keys("v")
	b.line(":write! " + file)
	if written, err = os.ReadFile(file); err != nil || !strings.Contains(string(written), "A is after.cpprof, from 0s to 1s, B is before.cpprof\n") {
		t.Errorf("%v: of a span is written\n%s", err, written)
	}
	b.line(":write " + file + ".json")
	if data, err := os.ReadFile(file + ".json"); err != nil || !strings.Contains(string(data), `"difference": `) {
		t.Errorf("%v: as data is written\n%s", err, data)
	}
}
