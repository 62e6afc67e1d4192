package why

import (
	"math"
	"testing"

	"github.com/cpprof/cpprof/refine/hotspots"
	"pgregory.net/rapid"
)

// observed returns observations that all say the same, with some noise.
func observed(t *rapid.T, n int, base, share float64, name string) []hotspots.Observation {
	all := make([]hotspots.Observation, n)
	noise := rapid.SliceOfN(rapid.Float64Range(0.8, 1), n, n).Draw(t, name)
	for i := range all {
		all[i] = hotspots.Observation{Weight: 1, Base: base, Hits: base * share * noise[i]}
	}
	return all
}

func drawDemand(t *rapid.T) *demand {
	share := rapid.Float64Range(0, 1)
	n := rapid.IntRange(30, 60).Draw(t, "moments")
	d := &demand{full: rapid.Bool().Draw(t, "full"), shared: rapid.Bool().Draw(t, "shared"),
		through: hotspots.Estimated(observed(t, n, 8, share.Draw(t, "through"), "of work"), 1),
		cpu:     hotspots.Estimated(observed(t, n, 2, share.Draw(t, "cpu"), "of CPU"), 1)}
	for range rapid.IntRange(0, 3).Draw(t, "centres") {
		c := &centre{used: observed(t, n, 2, share.Draw(t, "used"), "of use")}
		part := share.Draw(t, "target")
		for _, o := range c.used {
			o.Hits *= part
			c.target = append(c.target, o)
		}
		d.centres = append(d.centres, c)
	}
	return d
}

// The laws of gains, for all demands: nothing left out brings
// nothing, more left out brings no less, the interval has the
// factor, and no centre does more than is possible.
func TestGainLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDemand(t)
		if f, _ := d.gain(0); f.Times != 1 || f.Low != 1 {
			t.Errorf("nothing left out brings %+v", f)
		}
		before := Factor{Times: 1, Low: 1, High: 1}
		for _, part := range []float64{0.25, 0.5, 1} {
			f, full := d.gain(part)
			if f.Low > f.Times || f.Times > f.High {
				t.Errorf("%g left out: %+v", part, f)
			}
			if f.Times < before.Times-1e-9 {
				t.Errorf("%g left out brings %+v, less than %+v", part, f, before)
			}
			before = f
			for _, c := range d.centres {
				if limit := c.limit(part); f.Times > max(1, limit.Times)+1e-9 {
					t.Errorf("%g left out brings %+v, but a centre allows %+v", part, f, limit)
				}
			}
			if full != nil && f.Times != max(1, full.limit(part).Times) {
				t.Errorf("%g left out brings %+v, not what the full centre allows", part, f)
			}
		}
	})
}

// In a closed system without queues, work is as fast as what
// remains of a cycle: with 1 ms of 4 left, four times as fast.
func TestGainOfOneCost(t *testing.T) {
	share := hotspots.Estimate{Share: 0.75, Low: 0.5, High: 0.8}
	f, full := (&demand{through: share}).gain(1)
	if full != nil || math.Abs(f.Times-4) > 1e-9 || math.Abs(f.Low-2) > 1e-9 || math.Abs(f.High-5) > 1e-9 {
		t.Errorf("%+v, %v", f, full)
	}
	if half, _ := (&demand{through: share}).gain(0.5); math.Abs(half.Times-1.6) > 1e-9 {
		t.Errorf("half of it: %+v", half)
	}
}

// The number of goroutines at work varies little if a fixed
// number take turns, and much if work arrives at random.
func TestVaries(t *testing.T) {
	count := func(all ...float64) (list []hotspots.Observation) {
		for _, n := range all {
			list = append(list, hotspots.Observation{Weight: 1e7, Base: n})
		}
		return list
	}
	if varies(count(3, 4, 3, 2, 4, 3)) || !varies(count(0, 0, 5, 0, 1, 0, 4)) {
		t.Error("the wrong one varies")
	}
}

// What a class sleeps with full processors may be less without the
// cost: its timers were late. What it waits for others is not.
func TestGainOfLateSleep(t *testing.T) {
	most := hotspots.Estimate{Share: 0.9, Low: 0.85, High: 0.95, Samples: 100}
	for asleep, high := range map[float64]float64{0: 5, 0.2: 10} {
		d := demand{full: true, through: hotspots.Estimate{Share: 0.5, Low: 0.4, High: 0.6, Samples: 100}, cpu: most, stays: 0.2, asleep: asleep}
		if f, _ := d.gain(1); math.Abs(f.Times-5) > 1e-9 || math.Abs(f.High-high) > 1e-9 {
			t.Errorf("%g asleep: %+v, want up to %g", asleep, f, high)
		}
	}
}
