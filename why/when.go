package why

import (
	"math"
	"slices"
	"time"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/refine/hotspots"
)

// maxBins limits the parts of a span that are compared with one another.
const maxBins = 120

// A series is a share over time, in bins of some samples each.
type series struct {
	values, weights []float64
	first           []int // by bin: its first sample; the last one is the number of samples
}

// binned sums up observations in at most maxBins bins of as many samples.
func binned(all []hotspots.Observation) series {
	bins := max(1, min(maxBins, len(all)/2))
	s := series{first: []int{0}}
	for b := range bins {
		end := (b + 1) * len(all) / bins
		value, base := shareAndBase(all[s.first[b]:end])
		s.values, s.weights, s.first = append(s.values, value), append(s.weights, base),
			append(s.first, end)
	}
	return s
}

// shareAndBase returns the share of hits in the base of some
// observations, and the base; 0 if that is 0.
func shareAndBase(all []hotspots.Observation) (share, base float64) {
	hits := lists.Sum(all, func(o hotspots.Observation) float64 { return o.Weight * o.Hits })
	base = lists.Sum(all, func(o hotspots.Observation) float64 { return o.Weight * o.Base })
	if base == 0 {
		return 0, 0
	}
	return hits / base, base
}

// changes returns the bins at which the level of a series
// changes, by binary segmentation: a part is divided where that
// explains most of its variance, as long as this is much more
// than noise explains. Then changes to nearly the same level are
// dropped: a short part in the middle has its own level only
// when it is divided from both sides.
func (s series) changes() []int {
	var cuts []int
	noise := s.noise()
	var divide func(from, to int)
	divide = func(from, to int) {
		at, gain := s.bestCut(from, to)
		if at < 0 || gain < 4*math.Log(float64(len(s.values)))*noise {
			return
		}
		divide(from, at)
		cuts = append(cuts, at)
		divide(at, to)
	}
	divide(0, len(s.values))
	return s.steps(cuts)
}

// steps returns the changes of at least minStep: it drops the
// smallest one, until there is none that is smaller.
func (s series) steps(cuts []int) []int {
	for len(cuts) > 0 {
		bounds := slices.Concat([]int{0}, cuts, []int{len(s.values)})
		smallest, least := 0, math.Inf(1)
		for i := range cuts {
			if d := math.Abs(s.mean(bounds[i], bounds[i+1]) - s.mean(bounds[i+1],
				bounds[i+2])); d < least {
				smallest, least = i, d
			}
		}
		if least >= minStep {
			break
		}
		cuts = slices.Delete(cuts, smallest, smallest+1)
	}
	return cuts
}

const (
	minStep = 0.1 // the least difference of shares that is a change
	minBins = 3   // between two changes

	// nearlyAlways is the part of the time from which on a share
	// is high all the time. In an execution trace, bins are of
	// very different lengths: three of them can be a
	// millisecond.
	nearlyAlways = 0.95

	hardly = 0.005 // a share up to which there is hardly any of it
)

// noise returns the variance of single bins, from the median
// difference between neighbours: changes of the level hardly
// count.
func (s series) noise() float64 {
	var steps []float64
	for i := 1; i < len(s.values); i++ {
		steps = append(steps, math.Abs(s.values[i]-s.values[i-1]))
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	// of the difference of two values of a normal distribution
	median := steps[len(steps)/2] / 0.954
	mean := 0.0
	for _, d := range steps {
		mean += d * d / 2
	}
	// Few values, such as 0 and 1, have the median 0 though they vary.
	return max(median*median, mean/float64(len(steps)), 1e-4)
}

// bestCut returns the bin that divides a part best, and by how
// much that reduces the sum of squares; -1 if it is too short.
func (s series) bestCut(from, to int) (best int, gain float64) {
	best = -1
	whole := s.mean(from, to)
	for at := from + minBins; at <= to-minBins; at++ {
		left, right := s.mean(from, at), s.mean(at, to)
		g := float64(at-from)*(left-whole)*(left-whole) + float64(to-at)*(right-whole)*(right-whole)
		if g > gain {
			best, gain = at, g
		}
	}
	return best, gain
}

// mean returns the mean level of some bins.
func (s series) mean(from, to int) float64 {
	sum := lists.Sum(s.values[from:to], func(v float64) float64 { return v })
	return sum / float64(max(1, to-from))
}

// share returns the share of some bins.
func (s series) share(from, to int) float64 {
	hits, base := 0.0, 0.0
	for i := from; i < to; i++ {
		hits += s.values[i] * s.weights[i]
		base += s.weights[i]
	}
	if base == 0 {
		return 0
	}
	return hits / base
}

// A level is a part of the observations in which a share is high.
type level struct {
	from, to int // numbers of observations
	share    float64
}

// lowest is the part of the highest share of a series, below which a
// share is low: elsewhere, there is hardly any of it.
const lowest = 0.25

// levels returns the parts in which a share is not low, by the
// changes of its series.
func (s series) levels() (all []level) {
	bounds := slices.Concat([]int{0}, s.changes(), []int{len(s.values)})
	highest := 0.0
	for i := 1; i < len(bounds); i++ {
		highest = max(highest, s.share(bounds[i-1], bounds[i]))
	}
	first := -1 // bound of the part that is being joined
	for i := 1; i <= len(bounds); i++ {
		high := i < len(bounds) && s.share(bounds[i-1], bounds[i]) >= lowest*highest
		switch {
		case high && first < 0:
			first = i - 1
		case !high && first >= 0:
			from, to := bounds[first], bounds[i-1]
			all = append(all, level{s.first[from], s.first[to], s.share(from, to)})
			first = -1
		}
	}
	return all
}

// trim leaves out the ends of a level in which nothing was observed,
// also of its share.
func (l *level) trim(all []hotspots.Observation) {
	seen := func(o hotspots.Observation) bool { return o.Hits > 0 }
	if first := slices.IndexFunc(all[l.from:l.to], seen); first > 0 {
		l.from += first
	}
	for l.to > l.from+1 && !seen(all[l.to-1]) {
		l.to--
	}
	if share, base := shareAndBase(all[l.from:l.to]); base > 0 {
		l.share = share
	}
}

// mostSteps limits the steps of time in which a period is searched.
const mostSteps = 2 * maxBins

// stepped returns the share in steps of time of one length:
// samples may come irregularly. A step without one is as the
// step before.
func (e *evidence) stepped(all []hotspots.Observation) (s series, step time.Duration) {
	n := len(all) / (1 + (len(all)-1)/mostSteps) // of as many samples on average
	start, i, value := e.time(e.from), 0, 0.0
	step = (e.time(e.to-1) - start) / time.Duration(max(n-1, 1))
	for k := range n {
		hits, base := 0.0, 0.0
		for ; i < len(all) && e.time(e.from+int32(i)) <= start+time.Duration(k)*step; i++ {
			hits, base = hits+all[i].Hits, base+all[i].Base
		}
		if base > 0 {
			value = hits / base
		}
		s.values = append(s.values, value)
	}
	return s, step
}

// mayGo is the part of the steps in which a share that comes and goes
// is less than half of its mean, at least.
const mayGo = 0.1

// period returns the number of steps after which a series
// repeats itself, or 0: the shortest lag with a high
// autocorrelation, if there are at least four of these periods.
func (s series) period() float64 {
	n := len(s.values)
	if n < 48 {
		return 0
	}
	mean := s.mean(0, n)
	goes := lists.Count(s.values, func(v float64) bool { return v < mean/2 })
	variance := s.covariance(0)
	if variance < minStep*minStep || float64(goes) < mayGo*float64(n) {
		return 0
	}
	at := func(lag int) float64 { return s.covariance(lag) / variance }
	dipped := false
	for lag := 2; lag <= n/4; lag++ {
		r := at(lag)
		dipped = dipped || r < 0
		if dipped && r > 0.5 && r >= at(lag+1) && r >= at(lag-1) {
			return s.finer(lag)
		}
	}
	return 0
}

// finer returns a period that is known to a step more precisely: several
// periods are known to a step, too.
func (s series) finer(lag int) float64 {
	period := float64(lag)
	for several := 2; float64(several)*period < float64(len(s.values)/2); several *= 2 {
		best := int(math.Round(float64(several) * period))
		for _, other := range []int{best - 1, best + 1} {
			if s.covariance(other) > s.covariance(best) {
				best = other
			}
		}
		period = float64(best) / float64(several)
	}
	return period
}

// covariance returns the mean product of what values that are some
// steps apart differ from the mean.
func (s series) covariance(lag int) float64 {
	n := len(s.values)
	mean, sum := s.mean(0, n), 0.0
	for i := 0; i+lag < n; i++ {
		sum += (s.values[i] - mean) * (s.values[i+lag] - mean)
	}
	return sum / float64(n-lag)
}

// when finds out when a share is high: all the time, in some
// spans, or periodically, and whether it goes with collections.
func (e *evidence) when(all []hotspots.Observation) (w When) {
	w.Collecting = e.inCollections(all)
	s := binned(all)
	levels := s.levels()
	high := lists.Sum(levels, func(l level) time.Duration {
		return e.time(e.from+int32(l.to)) - e.time(e.from+int32(l.from))
	})
	if float64(high) > nearlyAlways*float64(e.time(e.to)-e.time(e.from)) {
		w.Always = true
		if w.Present = present(all); w.Present > 0 { // the share does not change, but what it is of comes and goes
			all = lists.Each(all, func(o hotspots.Observation) hotspots.Observation {
				return hotspots.Observation{Weight: o.Weight, Hits: min(o.Base, 1), Base: 1}
			})
		}
		steps, step := e.stepped(all)
		w.Period = time.Duration(steps.period() * float64(step))
	} else {
		for _, l := range levels {
			l.trim(all)
			w.Spans = append(w.Spans,
				Span{e.time(e.from + int32(l.from)), e.time(e.from + int32(l.to)), l.share})
		}
		w.Otherwise = e.outside(all, w.Spans)
	}
	return w
}

// mostlyPresent is the share of the time in which somebody is at work,
// from which on that is not said.
const mostlyPresent = 0.8

// present returns the share of the time in which somebody is at work; 0 if
// that is most of it.
func present(all []hotspots.Observation) float64 {
	there, time := 0.0, 0.0
	for _, o := range all {
		time += o.Weight
		if o.Base > 0 {
			there += o.Weight
		}
	}
	if there >= mostlyPresent*time {
		return 0
	}
	return there / time
}

// outside returns the share outside of some spans; 0 if these have
// nearly all of it.
func (e *evidence) outside(all []hotspots.Observation, spans []Span) float64 {
	var other []hotspots.Observation
	hits, rest := 0.0, 0.0
	for i, o := range all {
		at := e.time(e.from + int32(i))
		hits += o.Weight * o.Hits
		in := func(s Span) bool { return s.From <= at && (at < s.To || s.To == e.time(e.to)) }
		if !slices.ContainsFunc(spans, in) {
			rest += o.Weight * o.Hits
			other = append(other, o)
		}
	}
	share, _ := shareAndBase(other)
	least := 1.0
	for _, s := range spans {
		least = min(least, s.Share)
	}
	if few := rest <= (1-nearlyAlways)*hits; share < hardly || few && share < lowest*least {
		return 0
	}
	return share
}

// inCollections reports whether most of a share is while garbage is
// collected, and it is at least three times as high then.
func (e *evidence) inCollections(all []hotspots.Observation) bool {
	var hits, base [2]float64
	samples := 0
	for i, o := range all {
		in := 0
		if e.r.Samples.At(int(e.from) + i).Collecting {
			in = 1
			samples++
		}
		hits[in] += o.Weight * o.Hits
		base[in] += o.Weight * o.Base
	}
	return samples >= minSamples && base[0] > 0 && base[1] > 0 && hits[1] > hits[0] &&
		hits[1]/base[1] > 3*hits[0]/base[0]
}
