package hotspots

import (
	"math"
	"math/rand/v2"
	"testing"
)

const tenth = 0.1

// of returns observations of one goroutine: it is in the state
// in some samples, from one on, and not in the others.
func of(samples, from, hits int) []Observation {
	all := make([]Observation, samples)
	for i := range all {
		all[i] = Observation{Weight: 1, Base: 1}
		if i >= from && i < from+hits {
			all[i].Hits = 1
		}
	}
	return all
}

// often returns observations of one goroutine: it is in the
// state in some samples, all over the time.
func often(samples, hits int) []Observation {
	all := of(samples, 0, 0)
	for i := range hits {
		all[i*samples/hits].Hits = 1
	}
	return all
}

// JBolt, section 3.2: more evidence revokes a verdict on little.
func TestVerdictsAreRevoked(t *testing.T) {
	for _, c := range []struct {
		what        string
		early, late []Observation
		first, then Verdict
	}{
		{"a constructor", of(100, 0, 50), of(1000, 0, 50), Yes, Maybe},
		{"small and frequent", often(100, 1), often(1000, 200), No, Yes},
		{"little evidence", often(20, 3), often(400, 60), Maybe, Yes},
	} {
		if got := Estimated(c.early, 1).Against(tenth); got != c.first {
			t.Errorf("%s: first %v, want %v", c.what, got, c.first)
		}
		if got := Estimated(c.late, 1).Against(tenth); got != c.then {
			t.Errorf("%s: then %v, want %v", c.what, got, c.then)
		}
	}
}

// A call that began before it was observed counts from then on:
// its share is a lower bound, and enough for a verdict.
func TestOneShot(t *testing.T) {
	e := Estimated(of(900, 650, 250), 1)
	if e.Against(tenth) != Yes || math.Abs(e.Share-250.0/900) > 1e-9 {
		t.Errorf("entered at 600, observed from 650 to 900: %+v", e)
	}
}

// The unit is a sample: a hundred goroutines that always do the
// same are no more evidence than one.
func TestGoroutinesOfASampleAreNotIndependent(t *testing.T) {
	one := of(50, 10, 10)
	hundred := of(50, 10, 10)
	for i := range hundred {
		hundred[i].Hits *= 100
		hundred[i].Base *= 100
	}
	a, b := Estimated(one, 1), Estimated(hundred, 1)
	if math.Abs(a.Low-b.Low) > 1e-9 || math.Abs(a.High-b.High) > 1e-9 {
		t.Errorf("one goroutine: %+v, a hundred alike: %+v", a, b)
	}
}

func TestNoEvidence(t *testing.T) {
	if e := Estimated(nil, 1); e.Against(tenth) != Maybe || e.Samples != 0 {
		t.Errorf("%+v", e)
	}
	if e := Estimated(of(3, 0, 3), 1); e.Low > 0.5 {
		t.Errorf("three samples are not certain: %+v", e)
	}
}

// Samples of different weights, and of different numbers of
// goroutines, have intervals that contain the true share as
// often as they say.
func TestIntervalsContainTheShare(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const share, rounds = 0.3, 2000
	within := 0
	for range rounds {
		all := make([]Observation, 60)
		for i := range all {
			all[i] = Observation{Weight: 0.5 + r.Float64(), Base: 5}
			if r.Float64() < share {
				all[i].Hits = 5
			}
		}
		if e := Estimated(all, 1); e.Low <= share && share <= e.High {
			within++
		}
	}
	if got := float64(within) / rounds; got < 0.92 {
		t.Errorf("%.3f of the intervals contain the share, want 0.95", got)
	}
}
