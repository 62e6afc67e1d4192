package tui

import (
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/config"
)

// TestSummaryMerges merges two classes by hand, keeps that for
// the session, and splits them again.
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

// TestSummaryHides hides what does hardly anything but wait, and
// filters classes by name.
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
	b.shows("Esc clears it")
}

// TestMergesAreSaved saves a merge into cpprof.yaml. From then
// on it comes from the file: splitting it and saving removes it.
func TestMergesAreSaved(t *testing.T) {
	t.Chdir(t.TempDir())
	b := newBench(t, manyClasses(t, 40))
	b.line(":merges save")
	b.shows("no class was merged or split here")
	b.keys("Esc", "Space", "Space", "M")
	b.line("both")
	b.shows("':merges save' keeps it in cpprof.yaml")
	b.line(":merges save")
	b.shows("Saved in ")
	c, err := config.Load(config.Name)
	if err != nil || len(c.Merges) != 1 || c.Merges[0].Class() != "class:both" || len(c.Merges[0].Classes) != 2 {
		t.Fatalf("%v: it saves %+v", err, c)
	}
	if kept := b.kept().Merges; len(kept) != 0 {
		t.Errorf("the session keeps what the file has: %v", kept)
	}
	o := manyClasses(t, 40)
	o.Config = c
	again := newBench(t, o)
	again.line(":merge both go:*pkg02*") // adds to the merge of the file
	if kept := again.kept().Merges; len(kept) != 1 {
		t.Errorf("the session keeps %v", kept)
	}
	again.line("/class:both")
	again.keys("M")
	again.line(":merges save")
	if c, err := config.Load(config.Name); err != nil || len(c.Merges) != 0 {
		t.Errorf("%v: after the split, the file has %v", err, c.Merges)
	}
}
