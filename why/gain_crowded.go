package why

import (
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
)

const (
	hampered = 0.05 // of the time without waiting for work, if a lack of CPUs matters
	fewWaits = 0.1  // of a class's time at work, if it hardly waits for others
	muchLeft = 0.25 // of that time, if what is left of it matters
)

// withCPUs reports whether a gain is known although the machine
// may often have no CPU for the program.
//
// What a class waits for others gets shorter, too, when a cost
// no longer competes with them. A class that hardly waits for
// others has the cost, its other work, and a wait for CPUs with
// both in proportion.
func (b *tracer) withCPUs(g *Gain, t *traced) bool {
	s := b.s
	switch {
	case s.noCPU <= foreignUse*(s.ran+s.noCPU):
		return true
	case s.noCPU <= hampered*s.e.meanActive():
		return !b.asksBusy(t)
	case !b.code || g.Times == nil:
		return false
	}
	waits := 0.0
	all := lists.Sum(t.through, func(o hotspots.Observation) float64 { return o.Weight * o.Base })
	for i, weight := range t.left {
		if d := s.e.situations[i].state.Doing; !d.Executes() && d != views.Ready && d != views.Sleeping {
			waits += weight
		}
	}
	return waits <= fewWaits*all
}

// asksBusy reports whether much of a class's time is left that it waits for
// answers, while other programs use the CPUs: whoever answers may have more
// of them without the cost, and be faster.
func (b *tracer) asksBusy(t *traced) bool {
	asks := 0.0
	all := lists.Sum(t.through, func(o hotspots.Observation) float64 { return o.Weight * o.Base })
	for i, weight := range t.left {
		if b.asks[i] {
			asks += weight
		}
	}
	return asks >= muchLeft*all && b.s.e.crowd().byOthers()
}
