package why

import (
	"math"

	"github.com/cpprof/cpprof/refine/hotspots"
)

// A Factor is how many times as much work gets done, with a 95 % interval.
type Factor struct {
	Times float64 `json:"times"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// A demand is what a class needs to do its work, and what of it
// goes through a target. The laws are operational (Denning and
// Buzen: The operational analysis of queueing network models):
// they hold for what was measured, and assume no distribution.
type demand struct {
	// the share of the class's time, without waiting for work,
	// that goes through the target: in its own goroutines, or in
	// those that they wait for
	through hotspots.Estimate

	full   bool              // the processors are
	cpu    hotspots.Estimate // the target's share of the CPU time used
	shared bool              // others use much of the processors
	stays  float64           // the share of the class's time that does, whatever the processors save
	asleep float64           // of it, what it sleeps

	centres []*centre
}

// A centre is what serves one at a time, or a few: processors, or a lock.
type centre struct {
	next Next
	// its utilisation, sample by sample, and of it what goes
	// through the target
	used, target []hotspots.Observation
}

// mostTimes is the greatest factor. Greater ones are not told apart.
const mostTimes = 1000

// times returns the factor if a share of a cost is left out.
func times(share float64) float64 { return min(mostTimes, 1/max(1-share, 1/mostTimes)) }

// without returns the factor if a part of an estimated share is left out.
func without(share hotspots.Estimate, part float64) Factor {
	return Factor{times(part * share.Share), times(part * share.Low), times(part * share.High)}
}

// limit returns the factor at which a centre is full, if a part
// of the target is left out: the utilisation law.
func (c *centre) limit(part float64) Factor {
	left := make([]hotspots.Observation, len(c.used))
	for i := range left {
		left[i] = c.used[i]
		left[i].Hits = max(0, left[i].Hits-part*c.target[i].Hits)
	}
	r := hotspots.RatioOf(left, 1)
	margin, _ := r.Margin()
	return Factor{times(1 - r.Value), times(1 - r.Value - margin), times(1 - r.Value + margin)}
}

// lateSleep is how much of a class's sleep may be that its timers are
// late: full processors run them when somebody gives way.
const lateSleep = 0.5

// gain returns how many times as much work the class gets done
// if a part of the target's cost is left out, and the centre
// that is full then, if any.
//
// A goroutine's cycle gets shorter by what is left out: Little's
// law for a constant number of goroutines. Full processors do as
// much more as they save. No centre does more than its
// utilisation allows.
func (d *demand) gain(part float64) (Factor, *centre) {
	f := without(d.through, part)
	if d.full {
		cpu, most := without(d.cpu, part), times(1-d.stays)
		f.High = max(f.High, min(cpu.High, times(1-d.stays+lateSleep*d.asleep)))
		if !d.shared {
			f.Times = max(f.Times, min(cpu.Times, most))
		}
	}
	var full *centre
	for _, c := range d.centres {
		limit := c.limit(part)
		if limit.Times <= f.Times {
			full = c
		}
		f.Times, f.Low, f.High = min(f.Times, limit.Times), min(f.Low, limit.Low),
			min(f.High, limit.High)
	}
	f.Times, f.Low, f.High = max(1, f.Times), max(1, f.Low), max(1, f.High)
	return f, full
}

// varies reports whether a number of goroutines at work varies
// as much as a number of customers who come at random: its
// variance is above its mean. It varies less if a fixed number
// of goroutines take turns. The variance of few samples is
// uncertain: it must be above the mean by more than its error.
func varies(active []hotspots.Observation) bool {
	weight, sum, squares, n := 0.0, 0.0, 0.0, 0.0
	for _, o := range active {
		n++
		weight += o.Weight
		sum += o.Weight * o.Base
		squares += o.Weight * o.Base * o.Base
	}
	mean := sum / math.Max(weight, 1)
	return squares/math.Max(weight, 1)-mean*mean > mean*(1+2*math.Sqrt(2/max(n, 1)))
}
