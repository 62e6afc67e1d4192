package main

import (
	"strings"
	"testing"
	"time"

	"github.com/cpprof/cpprof/sampler"
)

// The value that is suggested for a bound allows 20 samples per
// second at what each has cost.
func TestRemedy(t *testing.T) {
	for _, c := range []struct {
		bound sampler.Bound
		want  string
	}{
		{sampler.Bound{Flag: "--max-cpu", Share: 0.05, Cost: 3 * time.Millisecond}, "--max-cpu 6% allows 20 per second"},
		{sampler.Bound{Flag: "--max-cpu", Share: 0.05, Cost: 33550 * time.Microsecond}, "--max-cpu 68% allows 20 per second"},
		{sampler.Bound{Flag: "--max-cpu", Share: 0.05, Cost: 2 * time.Millisecond}, "a larger --max-cpu allows more"},
		{sampler.Bound{Flag: "--max-cpu", Share: 0.05, Cost: 60 * time.Millisecond}, "--max-cpu 0 takes as many as it can"},
		{sampler.Bound{Flag: "--max-overhead", Share: 0.01, Cost: 60 * time.Millisecond}, "a larger --max-overhead allows more"},
	} {
		if got := remedy(c.bound); got != c.want {
			t.Errorf("%+v: %q, want %q", c.bound, got, c.want)
		}
	}
}

// A duration is suggested if a recording was over before its
// first sample had read all stacks.
func TestSuggestLonger(t *testing.T) {
	for _, c := range []struct {
		unread int
		want   string
	}{
		{0, ""},
		{99, ""}, // a few stacks are torn for other reasons
		{600, "cpprof: the machine is so busy that the stacks of 600 of 1000 goroutines were not read in that time: record for longer (-d 40s)\n"},
		{1000, "cpprof: the machine is so busy that the stacks of 1000 of 1000 goroutines were not read in that time: record for longer (-d 2m40s)\n"},
	} {
		var out strings.Builder
		n := &narrator{statusLine: statusLine{out: &out}}
		n.suggestLonger(sampler.Result{Progress: sampler.Progress{Elapsed: 8 * time.Second, Goroutines: 1000, Unread: c.unread}})
		if out.String() != c.want {
			t.Errorf("%d unread: %q, want %q", c.unread, out.String(), c.want)
		}
	}
}

// A bound that gave way to the samples that an answer needs says
// what they took, and how to forbid that.
func TestBoundThatGaveWay(t *testing.T) {
	var out strings.Builder
	n := &narrator{statusLine: statusLine{out: &out}}
	n.suggestBound(sampler.Result{Bound: sampler.Bound{Flag: "--max-cpu", Share: 0.05, Cost: 115 * time.Millisecond, Used: 0.23}})
	const want = "cpprof: each sample cost 115ms of processor time: 23% of a core in all, since fewer samples say nothing; '--max-cpu 5%' takes no more than that\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
