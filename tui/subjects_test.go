package tui

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/tui/session"
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
	if windows != 3 {
		t.Errorf("%d windows are kept, want the Thread View, the locks and the holders", windows)
	}
}

// The costs are those of the README's comparison of two builds.
func TestComparisonWindow(t *testing.T) {
	b := newBench(t, Options{Path: "after.cpprof", Recording: twin(t, "after")})
	other := twin(t, "before")
	b.do(func() {
		b.others.Add("before.cpprof", other)
		openComparison(b.app, "before.cpprof", session.Profile{Class: "go:main.worker"})
	})
	b.waitForJobs()
	b.keys("Enter")
	b.shows("old: before.cpprof  new: after.cpprof", "1.000   1.000   0.000", "0.167   0.667  +0.500", "main.(*journal).add", "0.833   0.333  -0.500")
	b.keys("x", "Enter")
	b.line(":against nowhere.cpprof")
	b.shows("nowhere.cpprof")
}

// The Analyzer can be opened with a comparison.
func TestComparisonFromTheStart(t *testing.T) {
	b := newBench(t, Options{
		Path: "after.cpprof", Recording: twin(t, "after"),
		Against: &Against{Path: "before.cpprof", Recording: twin(t, "before")}, Windows: threadWindow("go:main.worker"),
	})
	b.shows(" 2 Δ go:main.worker", "old: before.cpprof  new: after.cpprof")
	b.do(b.changed)
	b.waitForJobs()
	b.shows("1.000   1.000   0.000")
}

// A comparison is shown and written as by 'cpprof report
// --against': the largest change first. A span applies to both
// recordings.
func TestComparisonIsWritten(t *testing.T) {
	b := newBench(t, Options{
		Path: "after.cpprof", Recording: twin(t, "after"),
		Against: &Against{Path: "before.cpprof", Recording: twin(t, "before")}, Windows: threadWindow("go:main.worker"),
	})
	b.resize(140, 30)
	b.keys("a", "j", "m")
	b.shows("  label  call path")
	file := filepath.Join(t.TempDir(), "both")
	b.line(":write " + file)
	written, err := os.ReadFile(file)
	fixture.Check(t, err)
	want, got := entryLines(string(written)), entryLines(b.text())
	if len(want) < 5 || !slices.Equal(want, got) {
		t.Errorf("the window has\n%s\nand the file has\n%s", strings.Join(got, "\n"), written)
	}
	if !strings.HasPrefix(string(written), "Thread View of go:main.worker (observed accounting): old is before.cpprof, new is after.cpprof\n") {
		t.Errorf("it begins with %.100q", written)
	}
	b.keys("1")
	b.line(":span 0s 1s")
	b.keys("2")
	b.keys("v")
	b.shows("only 0s to 1s", "new counts 19 samples of 48: 0s to 1s", "old counts 19 samples of 48: 0s to 1s")
	b.keys("v")
	b.line(":write! " + file)
	if written, err = os.ReadFile(file); err != nil || !strings.Contains(string(written), "accounting, from 0s to 1s): old is before.cpprof, new is after.cpprof\n") {
		t.Errorf("%v: of a span is written\n%s", err, written)
	}
	b.line(":write " + file + ".json")
	if data, err := os.ReadFile(file + ".json"); err != nil || !strings.Contains(string(data), `"difference": `) {
		t.Errorf("%v: as data is written\n%s", err, data)
	}
}

// The details of a comparison have each recording's own costs,
// as in the row, and not those of both together.
func TestComparisonDetails(t *testing.T) {
	b := newBench(t, Options{
		Path: "after.cpprof", Recording: twin(t, "after"),
		Against: &Against{Path: "before.cpprof", Recording: twin(t, "before")}, Windows: threadWindow("go:main.worker"),
	})
	b.resize(140, 40)
	b.keys("a", "j", "j", "v")
	b.shows("›0.167   0.667  +0.500",
		"new: cost 0.667 = 4.8 s of 7.2 s", "new: hits 96 of 144, 95 % interval of the cost 0.540 to",
		"old: cost 0.167 = 1.2 s of 7.2 s", "old: hits 24 of 144, 95 % interval of the cost 0.099 to")
	b.line(":prune * ..:MONITOR")
	b.shows("›0.083   0.417  +0.333", "new: cost 0.417 = 3.0 s of 7.2 s", "old: cost 0.083 = 600.00 ms of 7.2 s")
}

// The Analyzer warns of calls that only one of two builds
// inlines, once on a screen. The details have the whole list.
func TestComparisonWarnsOfInlining(t *testing.T) {
	b := newBench(t, Options{
		Path: "after.cpprof", Recording: twin(t, "after"),
		Against: &Against{Path: "before.cpprof", Recording: twin(t, "before")}, Windows: threadWindow("go:main.worker"),
	})
	b.resize(200, 30)
	const warning = "! inlined in only one of the recordings: main.encode into main.worker"
	if n := strings.Count(b.text(), warning); n != 1 {
		t.Errorf("the warning is there %d times:\n%s", n, b.text())
	}
	b.resize(100, 30)
	b.keys("v")
	b.shows("! inlined in only one of the", "merges them into their callers in both")
}

// A span beyond the end of the other recording is an error.
func TestComparisonBeyondTheOther(t *testing.T) {
	var text strings.Builder
	fixture.Check(t, sampledata.WriteText(&text, twin(t, "before")))
	tenSamples := strings.Join(strings.Split(text.String(), "\nsample ")[:11], "\nsample ")
	short := fixture.Must(sampledata.ReadText(strings.NewReader(tenSamples)))(t)
	b := newBench(t, Options{
		Path: "after.cpprof", Recording: twin(t, "after"), Against: &Against{Path: "before.cpprof", Recording: short}, Windows: threadWindow("go:main.worker"),
	})
	b.keys("1")
	b.line(":span 1s 2s")
	b.keys("2")
	b.shows("before.cpprof has no samples from 1s to 2s: it lasts", "a span counts from the start of each")
}
