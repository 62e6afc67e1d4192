//go:build linux

package main

import "math"

// combine returns the means of several runs of one workload. The
// bounds shrink as the errors of independent runs do.
func combine(runs []*comparison) *comparison {
	if len(runs) == 1 {
		return runs[0]
	}
	c := &comparison{classes: map[string]*classFigures{}, stable: stability{wrong: map[[2]state]int{}}}
	n := float64(len(runs))
	for _, r := range runs {
		c.seconds += r.seconds
		c.samples += r.samples
		c.longest = max(c.longest, r.longest)
		c.events += r.events
		c.collections += r.collections
		c.halted += r.halted / n
		c.sampler += r.sampler / n
		c.stable.checked += r.stable.checked
		for k, v := range r.stable.wrong {
			c.stable.wrong[k] += v
		}
		c.warnings = append(c.warnings, r.warnings...)
		if r.broken != nil {
			c.broken = r.broken
		}
		for class := range r.classes {
			c.classes[class] = nil
		}
	}
	c.rate = float64(c.samples) / c.seconds
	for class := range c.classes {
		var all []*classFigures
		for _, r := range runs {
			if f := r.classes[class]; f != nil {
				all = append(all, f)
			}
		}
		c.classes[class] = combineClass(all, n)
	}
	for _, r := range runs {
		c.use.recorded += r.use.recorded / n
		c.use.own += r.use.own / n
		c.use.clock += r.use.clock / n
		c.use.traced += r.use.traced / n
		c.use.bound += r.use.bound * r.use.bound
	}
	c.use.bound = math.Sqrt(c.use.bound) / n
	return c
}

// combineClass returns the means of one class. It may not have
// lived in all of the runs.
func combineClass(all []*classFigures, runs float64) *classFigures {
	c := &classFigures{}
	n := float64(len(all))
	for _, f := range all {
		c.recordedAlive += f.recordedAlive / runs
		c.tracedAlive += f.tracedAlive / runs
		c.aliveBound += f.aliveBound * f.aliveBound
		for m := range numMeasures {
			g, sum := &f.figures[m], &c.figures[m]
			sum.recorded += g.recorded / n
			sum.least += g.least / n
			sum.most += g.most / n
			sum.atLeast += g.atLeast / n
			sum.atMost += g.atMost / n
			sum.bound += g.bound * g.bound
		}
	}
	c.aliveBound = max(math.Sqrt(c.aliveBound)/runs, 0.01*c.tracedAlive, 0.01)
	for m := range numMeasures {
		c.figures[m].bound = max(math.Sqrt(c.figures[m].bound)/n, smallest)
	}
	return c
}
