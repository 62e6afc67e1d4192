//go:build linux

package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cpprof/cpprof/sampledata"
)

// A figure is one measure of one class.
type figure struct {
	recorded    float64
	least, most float64 // in the trace
	atLeast     float64 // in the trace, at the moments of the samples
	atMost      float64
	bound       float64 // 3 standard errors
}

// all returns the difference of the recording and the trace.
func (f *figure) all() float64 { return outside(f.recorded, f.least, f.most) }

// class returns the part of it at the moments of the samples.
func (f *figure) class() float64 { return outside(f.recorded, f.atLeast, f.atMost) }

// when returns the part of it between these moments and all the time.
func (f *figure) when() float64 { return f.atLeast - f.least }

// outside returns how far x is outside of an interval.
func outside(x, least, most float64) float64 {
	switch {
	case x < least:
		return x - least
	case x > most:
		return x - most
	}
	return 0
}

// smallest is a difference of shares that never counts.
const smallest = 0.003

// A comparison is what one run, or several, say of each class.
type comparison struct {
	begin, end    int64 // of the time that is compared, in nanoseconds since 1970; of one run
	seconds, rate float64
	samples       int
	longest       float64 // the longest time that a sample stands for, in seconds
	halted        float64 // share of the time
	sampler       float64 // cores that cpprof used
	events        int
	collections   int
	broken        error
	classes       map[string]*classFigures
	use           utilisation
	stable        stability
	warnings      []sampledata.Warning
}

type classFigures struct {
	recordedAlive, tracedAlive, aliveBound float64
	figures                                [numMeasures]figure
}

// compareRun compares the recording of an observation with its trace.
func compareRun(o *observation) (*comparison, error) {
	t, err := readTrace(o.trace)
	if err != nil {
		return nil, err
	}
	r, err := readRecorded(o.recording, t.first, t.last)
	if err != nil {
		return nil, err
	}
	classOf := func(l *life) string {
		if class := r.byID[l.id]; class != "" {
			return class
		}
		return "go:" + l.start
	}
	c := newComparison(r)
	c.events, c.collections, c.broken = t.events, t.collections, t.broken
	from, to := r.begin, r.end
	all, at := t.between(from, to, classOf), t.atMoments(r.moments, r.weights, classOf)
	known := float64(t.sure(from, to))
	sure := r.sure(t)
	for _, s := range r.classes {
		f := &classFigures{tracedAlive: all.total(s.Class) / known}
		f.recordedAlive, _ = s.MeanAlive.Float64()
		f.recordedAlive += mean(r.alive[s.Class], sure) - mean(r.alive[s.Class], r.weights)
		shares, err := r.shares(s.Class)
		if err != nil {
			return nil, err
		}
		f.compare(r, s.Class, shares, sure, all, at)
		c.classes[s.Class] = f
	}
	for class := range all {
		if c.classes[class] == nil {
			c.classes[class] = &classFigures{tracedAlive: all.total(class) / known}
		}
	}
	c.use = use(o, r)
	for _, states := range all {
		c.use.traced += states[running] / float64(t.sure(from, to))
	}
	c.stable = stable(r, t)
	return c, nil
}

// compareClock compares only the utilisation.
func compareClock(o *observation) (*comparison, error) {
	r, err := readRecorded(o.recording, time.Unix(0, 0), time.Now())
	if err != nil {
		return nil, err
	}
	for _, s := range r.classes {
		if _, err := r.shares(s.Class); err != nil {
			return nil, err
		}
	}
	c := newComparison(r)
	c.use = use(o, r)
	return c, nil
}

// newComparison returns what a recording says about itself.
func newComparison(r *recorded) *comparison {
	seconds, stats := time.Duration(r.end-r.begin).Seconds(), r.Stats()
	return &comparison{
		begin: r.begin, end: r.end, seconds: seconds, samples: len(r.moments), rate: float64(len(r.moments)) / seconds, longest: slices.Max(r.weights) / 1e9,
		halted: stats.HaltedShare, sampler: stats.SamplerCPUShare, classes: map[string]*classFigures{}, warnings: r.Warnings,
	}
}

// compare computes the figures of one class. Of what the
// recording says, the samples are left out for whose moments the
// trace does not know what happened.
func (f *classFigures) compare(r *recorded, class string, shares [numMeasures]float64, sure []float64, all, at tally) {
	n := effective(r.weights)
	alive := product(r.weights, r.alive[class])
	for m := range numMeasures {
		states := &measures[m]
		g := figure{
			recorded: shares[m] + r.without(class, m, sure), least: all.share(class, states.least...), most: all.share(class, states.most...),
			atLeast: at.share(class, states.least...), atMost: at.share(class, states.most...),
		}
		se := max(ratioError(product(r.weights, r.counts[class][m]), alive), binomialError(g.least, n, f.tracedAlive))
		if m == shareRun {
			se = max(se, binomialError(min(g.recorded, 1), n, f.tracedAlive))
		}
		g.bound = max(3*se, smallest)
		f.figures[m] = g
	}
	f.aliveBound = max(3*ratioError(alive, r.weights), 0.01*f.tracedAlive, 0.01)
	if f.tracedAlive < 1 {
		f.aliveBound = max(f.aliveBound, 3*math.Sqrt(f.tracedAlive/n))
	}
}

// A utilisation is the number of CPUs in use, on average.
type utilisation struct {
	recorded, bound float64 // goroutines that use a CPU
	own             float64 // recorded: processors on which the runtime works for itself
	clock           float64 // by the kernel; NaN if not known
	traced          float64 // goroutines that run, with or without a CPU; 0 without a trace
}

// use compares the utilisation. That of the recording is the sum
// of what its classes run.
func use(o *observation, r *recorded) utilisation {
	u := utilisation{clock: math.NaN()}
	for _, s := range r.classes {
		alive, _ := s.MeanAlive.Float64()
		u.recorded += alive * r.onCPU[s.Class]
	}
	u.own = mean(r.own, r.weights)
	u.bound = 3 * ratioError(product(r.weights, r.using), r.weights)
	if cores, known := o.cpu.cores(time.Unix(0, r.begin), time.Unix(0, r.end)); known {
		u.clock = cores
	}
	return u
}

// difference returns by how much the recorded utilisation
// differs from the kernel's clock, which may count what the
// runtime does for itself.
func (u *utilisation) difference() float64 { return -outside(u.clock, u.recorded, u.recorded+u.own) }

// off reports whether the recorded utilisation does not fit the kernel's clock.
func (u *utilisation) off() bool {
	return math.Abs(u.difference()) > max(u.bound, 0.03*u.clock, 0.01)
}

// A stability compares those states that the trace says did not
// change around a sample. In these, any difference is an error.
type stability struct {
	checked int
	wrong   map[[2]state]int // by true and recorded state
}

// The time around a sample in which a state must not change.
// Halts take place within it.
const (
	stableBefore = 200 * time.Microsecond
	stableAfter  = 5 * time.Millisecond
)

// stable compares the states of at most some hundred goroutines
// in each sample.
func stable(r *recorded, t *traced) stability {
	const perSample = 400
	s := stability{wrong: map[[2]state]int{}}
	lives := map[int64]*life{}
	for _, l := range t.lives {
		lives[l.id] = l
	}
	chance := min(1, perSample*float64(len(r.moments))/float64(max(1, r.hits())))
	for _, run := range r.Runs.All() {
		l := lives[r.Goroutines.At(run.Goroutine).ID]
		if l == nil {
			continue
		}
		for i := range r.samplesOf(run) {
			if chance < 1 && rand.Float64() > chance {
				continue
			}
			k := l.at(r.moments[i] - int64(stableBefore))
			if k < 0 || l.spans[k].to < r.moments[i]+int64(stableAfter) {
				continue
			}
			s.checked++
			was, said := l.spans[k].state, stateOfRun(run.State())
			if was != said && !(was == calling && said == running) { // it may use a CPU in a system call
				s.wrong[[2]state{was, said}]++
			}
		}
	}
	return s
}

// hits returns the number of goroutines in all samples together.
func (r *recorded) hits() (n int) {
	for _, run := range r.Runs.All() {
		n += max(0, int(min(run.Last+1, r.from+int32(len(r.moments)))-max(run.First, r.from)))
	}
	return n
}
