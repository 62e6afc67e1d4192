package why

import (
	"testing"

	"github.com/cpprof/cpprof/refine/hotspots"
)

func TestSettled(t *testing.T) {
	lock := func(margin float64) *Answer {
		f := &Finding{key: "lock", Severity: 4, Share: hotspots.Estimate{Share: 0.8, Low: 0.8 - margin, High: 0.8 + margin}}
		return &Answer{State: Slow, Samples: 100, Findings: []*Finding{f}}
	}
	undecided := lock(0.02)
	undecided.Hypotheses = []Hypothesis{{Verdict: hotspots.Maybe, severity: 3}}
	few := lock(0.02)
	few.Samples = 30
	for _, c := range []struct {
		what    string
		answers []*Answer
		sure    int // number of answers after which it is sure; 0: never
	}{
		{"the same four times", []*Answer{lock(0.02), lock(0.02), lock(0.02), lock(0.02)}, 4},
		{"a wide interval first", []*Answer{lock(0.3), lock(0.3), lock(0.2), lock(0.2), lock(0.1)}, 5},
		{"something undecided", []*Answer{undecided, undecided, undecided, undecided}, 0},
		{"few samples", []*Answer{few, few, few, few}, 0},
		{"another answer meanwhile", []*Answer{lock(0.02), lock(0.02), lock(0.02), {State: Idle, Samples: 90}, lock(0.02), lock(0.02), lock(0.02)}, 0},
		{"nothing is certain", []*Answer{{State: Undecided, Samples: 90}, {State: Undecided, Samples: 90}, {State: Undecided, Samples: 90}}, 0},
	} {
		var s StopRule
		sure := 0
		for i, a := range c.answers {
			if s.Add(a) && sure == 0 {
				sure = i + 1
			}
		}
		if sure != c.sure {
			t.Errorf("%s: sure after %d answers, want %d", c.what, sure, c.sure)
		}
	}
}
