package why

import (
	"math"

	"github.com/cpprof/cpprof/sampledata"
)

// A visits counts the samples of a goroutine.
type visits struct {
	tally
	run, runs int32 // the last run, and the number of them
}

func (v *visits) see(run int32, share float64) {
	if v.add(share); v.runs == 0 || v.run != run {
		v.run, v.runs = run, v.runs+1
	}
}

// byChance is the probability up to which it is no chance that a
// goroutine was never seen in the target, or never elsewhere.
const byChance = 0.001

// mean returns the share of the class's time that is the target's.
func (t *traced) mean() float64 {
	var all tally
	for _, its := range t.each {
		all.count, all.target = all.count+its.count, all.target+its.target
	}
	return all.mean()
}

// leaveOut leaves out the goroutines that do other work than those
// that the target costs time: they would not do more without it.
func (b *tracer) leaveOut(t *traced) {
	mean := t.mean()
	does := func(g sampledata.GoroutineID) bool {
		its, ofClass := t.each[g]
		return ofClass && its.target == 0 && math.Pow(1-mean, its.count) <= byChance
	}
	for i, workers := range b.moments.workers {
		for k := range workers {
			if w := &workers[k]; does(w.goroutine) {
				t.through[i].Base--
				t.left[w.situation] -= b.weight(i)
			}
		}
	}
}

// manyWholly is the part of a class's time from which on goroutines that
// nothing else was seen of are many.
const manyWholly = 0.25

// unlike reports whether many goroutines of a class were seen to do
// nothing but what the target costs, though others do: how much more
// they would do without it is not known.
func (t *traced) unlike() bool {
	mean, wholly, all := t.mean(), 0.0, 0.0
	for _, its := range t.each {
		all += its.count
		if its.target == its.count && math.Pow(mean, float64(its.runs)) <= byChance {
			wholly += its.count
		}
	}
	return wholly >= manyWholly*all
}
