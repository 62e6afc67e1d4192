package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// :list defines a sample list, and :samples counts only its
// samples in every window.
func TestSamples(t *testing.T) {
	b := newBench(t, withSeries(t, 0))
	b.hides("⊂")
	b.line(":list late = time > 4.5")
	b.shows("The list late has 6 of 11 samples")
	b.line(":samples late")
	b.shows("⊂ late: 6 of 11", "6 of 11 samples")
	b.line(":samples !late")
	b.shows("⊂ !late: 5 of 11")
	b.line(":list late = time > 8.5") // the list that counts changes with it
	b.shows("⊂ !late: 9 of 11")
	b.line(":list late")
	b.shows("samples !late: there is no monitor or metric")
	b.line(":samples all")
	b.hides("⊂")
	b.line(":samples time > 3")
	b.keys("t", "l", "Space", "L", "L")
	b.shows("⊂ time > 3: 7 of 11")
}

// What is wrong is said in the prompt, with a caret.
func TestSamplesThatAreWrong(t *testing.T) {
	b := newBench(t, withSeries(t, 0))
	b.line(":samples time > tiem")
	b.shows(":samples time > tiem", "did you mean time", "▼")
	b.keys("Esc")
	b.line(":samples time > 99")
	b.shows("none of the 11 samples")
	b.keys("Esc")
	b.line(":list 3 = time > 1")
	b.shows("is no name")
	b.keys("Esc")
	b.line(":list nothing")
	b.shows("there is no list")
	b.keys("Esc")
	b.line(":samples process.cpu")
	b.shows("a sample list is a predicate")
}

// The list counts again while the recording grows.
func TestSamplesWhileRecording(t *testing.T) {
	whole := withSeries(t, 0).Recording
	part := fixture.Must(whole.Pick("a part", func(i int) bool { return i < 8 }))(t)
	part.Picked = nil
	now, ended := part, make(chan struct{})
	b := newBench(t, Options{Path: "series.cpprof", Recording: part, Live: &Live{
		Recording: func() *sampledata.Recording { return now }, Ended: ended, Outcome: func() string { return "over" },
	}})
	b.line(":samples time > 4.5")
	b.shows("⊂ time > 4.5: 3 of 8")
	now = whole
	b.do(func() { b.live.next = b.live.next.AddDate(-1, 0, 0); b.live.renew() })
	b.waitForJobs()
	b.shows("⊂ time > 4.5: 6 of 11", "● recording")
}

// A list that is given before it has samples counts as soon as
// it has some. That it has none is said once.
func TestSamplesToCome(t *testing.T) {
	whole := withSeries(t, 0).Recording
	first := func(samples int) *sampledata.Recording {
		part := fixture.Must(whole.Pick("a part", func(i int) bool { return i < samples }))(t)
		part.Picked = nil
		return part
	}
	now := first(3)
	b := newBench(t, Options{Path: "series.cpprof", Recording: now, Samples: "time > 4.5", Live: &Live{
		Recording: func() *sampledata.Recording { return now }, Ended: make(chan struct{}), Outcome: func() string { return "over" },
	}})
	b.shows("⊂ time > 4.5: no sample so far, all are shown")
	renew := func() {
		b.do(func() { b.live.next = time.Time{}; b.live.renew() })
		b.waitForJobs()
	}
	renew()
	b.shows("⊂ time > 4.5: no sample so far, all are shown", "none of the 3 samples")
	b.keys("Esc") // the message goes
	now = first(4)
	renew()
	b.shows("⊂ time > 4.5: no sample so far, all are shown")
	b.hides("none of the")
	b.line(":list other = time > 1") // a list may be what it is by this one
	b.waitForJobs()
	b.shows("none of the 4 samples")
	now = whole
	renew()
	b.shows("⊂ time > 4.5: 6 of 11")
}

// A session keeps the lists, the one that counts, and the lanes.
func TestSamplesAreKept(t *testing.T) {
	o := withSeries(t, 0)
	b := newBench(t, o)
	b.line(":list late = time > 4.5")
	b.line(":samples late")
	b.line(":lanes process.resident, cpu.used")
	b.keys("Esc")
	o.Session = b.kept()
	if len(o.Session.Lists) != 1 || o.Session.Samples != "late" || strings.Join(o.Session.Summary.Lanes, ",") != "process.resident,cpu.used" {
		t.Errorf("%+v", o.Session)
	}
	again := newBench(t, o)
	again.shows("⊂ late: 6 of 11")
	again.keys("t")
	again.shows("›process.resident")
}
