package tui

import (
	"strings"
	"testing"
)

// TestSummaryMerges merges two classes by hand, keeps that for the session, and splits them again.
func TestSummaryMerges(t *testing.T) {
	b := newBench(t, manyClasses(t, 40))
	b.keys("Space", "Space", "M")
	b.line("both")
	b.waitForJobs()
	b.shows("class:both: 2 goroutines")
	b.hides("pkg00", "pkg01")
	b.do(func() {
		if m := b.app.state().Merges; len(m) != 1 || m[0].Class() != "class:both" || len(m[0].Classes) != 2 {
			t.Errorf("the session keeps %v", m)
		}
	})
	b.keys("Enter")
	b.waitForJobs()
	b.shows("Thread View of class:both")
	b.keys("1", "M")
	b.waitForJobs()
	b.shows("pkg00", "pkg01")
	b.keys("M")
	b.shows("Space marks the classes to merge")
}

// TestSummaryHides hides what does hardly anything but wait, and filters classes by name.
func TestSummaryHides(t *testing.T) {
	o := bob(t)
	o.Views.LeaveOutIdle = true
	b := newBench(t, o)
	b.hides(" go:runtime.gcBgMarkWork")
	b.shows("1 of 3 classes are hidden")
	b.keys("H")
	b.shows(" go:runtime.gcBgMarkWork")
	b.keys("f")
	b.line("MAIN")
	b.hides("  go:bob")
	if !strings.Contains(b.text(), "go:main.main") {
		t.Error("the filter hides what it should show")
	}
	b.shows("f changes the filter")
}
