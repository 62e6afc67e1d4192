package main

import (
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampler"
)

// The value that is suggested for a bound allows 20 samples per second at what each has cost.
func TestRemedy(t *testing.T) {
	for _, c := range []struct {
		bound sampler.Bound
		want  string
	}{
		{sampler.Bound{Flag: "--max-cpu", Share: 0.05, Cost: 3 * time.Millisecond}, "--max-cpu 6% allows 20 per second"},
		{sampler.Bound{Flag: "--max-cpu", Share: 0.05, Cost: 33550 * time.Microsecond}, "--max-cpu 68% allows 20 per second"},
		{sampler.Bound{Flag: "--max-cpu", Share: 0.05, Cost: 2 * time.Millisecond}, "a larger --max-cpu allows more"},
		{sampler.Bound{Flag: "--max-overhead", Share: 0.01, Cost: 60 * time.Millisecond}, "a larger --max-overhead allows more"},
	} {
		if got := remedy(c.bound); got != c.want {
			t.Errorf("%+v: %q, want %q", c.bound, got, c.want)
		}
	}
}
