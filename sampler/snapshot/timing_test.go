//go:build linux && (amd64 || arm64)

package snapshot

import (
	"testing"
	"time"
)

// The thread falls asleep early, at a different time before each
// halt, and before the survey if that is long. But it does not
// keep its processor of Go's scheduler for 10 ms.
func TestLead(t *testing.T) {
	for _, survey := range []time.Duration{0, short, 3 * time.Millisecond} {
		tm := timing{survey: survey}
		least, most := time.Hour, time.Duration(0)
		for range 100 {
			lead := tm.lead() - tm.before()
			least, most = min(least, lead), max(most, lead)
		}
		if least < 5*time.Millisecond || most >= 10*time.Millisecond || most-least < vary/2 {
			t.Errorf("survey of %v: from %v to %v before it", survey, least, most)
		}
		if long := survey > short; long != (tm.before() > survey) {
			t.Errorf("a survey of %v begins %v before the chosen moment", survey, tm.before())
		}
	}
}

// The survey of a program with few goroutines is a part of the
// halt, but for the first one. Samples of both kinds see the
// same.
func TestSurveyInHalt(t *testing.T) {
	b := attach(t, begin(t, build(t), "-busy=1"))
	if b.survey.inHalt() {
		t.Error("the first survey is to read all stacks in the halt")
	}
	r := record(t, b, 50)
	if !b.survey.inHalt() {
		t.Errorf("the survey of %d goroutines comes before the halt", len(b.goroutines.table.slots))
	}
	known, computing := 0, 0
	for _, run := range r.Runs.All() {
		if run.Torn {
			continue
		}
		for range run.Last - run.First + 1 {
			known++
		}
		if g := r.Goroutines.At(run.Goroutine); g.Start >= 0 && r.Functions[g.Start].Name == "main.compute" {
			computing += int(run.Last - run.First + 1)
		}
	}
	if known == 0 || computing < 45 {
		t.Errorf("of %d states, %d are of the goroutine that computes; want one in each of 50 samples", known, computing)
	}
}
