package why

import (
	"maps"
	"math"
	"slices"

	"github.com/cpprof/cpprof/sampledata"
)

// visits are the samples of a goroutine at work, and its runs in these.
type visits struct {
	tally
	run, runs int32 // the last one, and the number of them
}

func (v *visits) see(run int32, share float64) {
	if v.add(share); v.runs == 0 || v.run != run {
		v.run, v.runs = run, v.runs+1
	}
}

// byChance is the probability up to which it is no chance that a
// goroutine was never seen in the target, or never elsewhere.
const byChance = 0.001

// chanceMargin is how many standard deviations a share is from another
// one, at least, if that is no chance.
const chanceMargin = 3

// mean returns the share of the class's time that is the target's.
func (t *traced) mean() float64 {
	var all tally
	for _, g := range slices.Sorted(maps.Keys(t.each)) { // sums depend on the order
		all.count, all.target = all.count+t.each[g].count, all.target+t.each[g].target
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

// manyAlike is the part of a class's time from which on goroutines that
// are alike count.
const manyAlike = 0.25

// most returns the share of the target in the time of the goroutines that
// it costs most, if these are many and it is no chance that the others
// have less of it: the share of the class is in between. Else it is 0.
func (t *traced) most() float64 {
	mean, of, all := t.mean(), tally{}, 0.0
	for _, g := range slices.Sorted(maps.Keys(t.each)) {
		its := t.each[g]
		all += its.count
		if runs := float64(its.runs); its.mean()-mean > chanceMargin*math.Sqrt(mean*(1-mean)/runs) {
			of.count, of.target = of.count+its.count, of.target+its.target
		}
	}
	if of.count < manyAlike*all {
		return 0
	}
	return of.mean()
}
