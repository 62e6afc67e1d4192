package tui

import "testing"

func TestHoldersWindow(t *testing.T) {
	b := bobThread(t)
	b.resize(160, 30)
	b.keys("L", "h")
	b.keys("v")
	b.shows("Locks, their holders and what these do", "Waited for by", terminals+" in bob.(*manager).transact")
	b.shows("0.667    80              bob.(*manager).stamp")
	var windows int
	b.do(func() { windows = len(b.state().Windows) })
	if windows != 1 {
		t.Errorf("%d windows are kept, want the Thread View alone", windows)
	}
}

// The costs are those of the README's comparison of the two builds.
func TestComparisonWindow(t *testing.T) {
	b := newBench(t, Options{Path: "after.cpprof", Recording: twin(t, "after")})
	other := twin(t, "before")
	b.do(func() { b.openComparison("go:main.worker", "before.cpprof", other) })
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
