package metrics

import (
	"cmp"
	"math"
	"slices"
)

// A step is a change of a series that counts goroutines: it
// differs by so much from a sample on.
type step struct {
	sample int32
	by     int32
}

// A target is a metric to correlate with many series. It is
// prepared: a series costs only as much time as it has steps.
// Samples count if they are in the list and the metric is
// defined in them.
type target struct {
	n      float64
	counts []bool
	before []float64 // by sample, and one more: how many samples before it count
	sums   []float64 // the same: the sum of the metric over these, less their mean
	pairs  []float64 // the same: how many pairs of neighbours of these end before it
	y      []float64 // less the mean
	syy    float64

	auto float64 // the metric's autocorrelation
}

func newTarget(y Column, l List) *target {
	p := newPair(y, y, l)
	m := mean(p.y)
	size := len(y) + 1
	t := &target{
		n: float64(len(p.y)), counts: make([]bool, len(y)), before: make([]float64, size),
		sums:  make([]float64, size),
		pairs: make([]float64, size), y: make([]float64, len(y)), auto: p.autocorrelation(p.y),
	}
	for i, s := range p.samples {
		t.counts[s], t.y[s] = true, p.y[i]-m
		t.syy += t.y[s] * t.y[s]
	}
	for i := range y {
		t.before[i+1], t.sums[i+1], t.pairs[i+1] = t.before[i], t.sums[i], t.pairs[i]
		if !t.counts[i] {
			continue
		}
		t.before[i+1]++
		t.sums[i+1] += t.y[i]
		if t.pair(i) {
			t.pairs[i+1]++
		}
	}
	return t
}

// pair reports whether a sample and the one before it count.
func (t *target) pair(i int) bool {
	return i > 0 && i < len(t.counts) && t.counts[i] && t.counts[i-1]
}

// A quick is a part of a Correlation that is computed for every series.
type quick struct {
	pearson float64
	p       float64
}

// moments are sums over the pairs of neighbours of a series: of
// the former and the latter values.
type moments struct{ n, former, latter, formerSquares, latterSquares, products float64 }

func (m *moments) add(n, a, b float64) {
	m.n += n
	m.former += n * a
	m.latter += n * b
	m.formerSquares += n * a * a
	m.latterSquares += n * b * b
	m.products += n * a * b
}

func (m *moments) correlation() float64 {
	a := m.formerSquares - m.former*m.former/m.n
	b := m.latterSquares - m.latter*m.latter/m.n
	if !(a > 0 && b > 0) {
		return undefined
	}
	return (m.products - m.former*m.latter/m.n) / math.Sqrt(a*b)
}

// correlate correlates a series with the target. The steps are
// in the order of their samples. Between two steps, the series
// is the same, so sums over these samples come from the sums of
// the target.
func (t *target) correlate(steps []step) quick {
	var sx, sxx, sxy float64
	var m moments
	value, from := 0.0, 0
	hold := func(to int) {
		n := t.before[to] - t.before[from]
		sx += value * n
		sxx += value * value * n
		sxy += value * (t.sums[to] - t.sums[from])
		if to > from {
			m.add(t.pairs[to]-t.pairs[from+1], value, value)
		}
		from = to
	}
	for i := 0; i < len(steps); {
		at, by := steps[i].sample, int32(0)
		for ; i < len(steps) && steps[i].sample == at; i++ {
			by += steps[i].by
		}
		if by == 0 {
			continue
		}
		hold(int(at))
		if t.pair(int(at)) {
			m.add(1, value, value+float64(by))
		}
		value += float64(by)
	}
	hold(len(t.y))
	q := quick{pearson: undefined, p: 1}
	variance := sxx - sx*sx/t.n
	if variance <= 1e-9*sxx || t.syy == 0 {
		return q
	}
	q.pearson = max(-1, min(1, sxy/math.Sqrt(variance*t.syy)))
	q.p = chance(q.pearson, effectiveOf(int(t.n), t.auto*m.correlation()))
	return q
}

// sortSteps sorts steps by their samples. If there are many, it
// adds them up by sample, in scratch. scratch has one element
// more than there are samples, all 0.
func sortSteps(steps []step, scratch []int32) []step {
	if len(steps) < len(scratch)/8 {
		slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.sample, b.sample) })
		return steps
	}
	for _, s := range steps {
		scratch[s.sample] += s.by
	}
	steps = steps[:0]
	for i, by := range scratch {
		if by != 0 {
			steps = append(steps, step{int32(i), by})
			scratch[i] = 0
		}
	}
	return steps
}
