package metrics

import (
	"cmp"
	"math"
	"slices"
)

// A Correlation says how two metrics go together over the
// samples of a list. Its caveats say how far to trust that
// (sections 5.4.1 to 5.4.5 of the paper). It never says which of
// the two is the cause.
type Correlation struct {
	N        int     `json:"n"`        // samples in which both are defined
	Pearson  float64 `json:"pearson"`  // undefined if one of them has one value only
	Spearman float64 `json:"spearman"` // of the ranks; of equal values, the mean rank

	// samples that pull the line through the points: 1/n + (x -
	// mean)²/Sxx is above 4/n, for x or for y
	Leverage []int   `json:"leverage_points"`
	Without  float64 `json:"pearson_without"` // Pearson without these; undefined if there are none

	// Of the first differences, from each sample to the next one
	// of the recording: if both metrics only follow a trend,
	// they correlate, and their differences don't.
	Differences float64 `json:"pearson_of_differences"`

	// The shift of y, in samples, at which the two correlate
	// best: if it is 2, y follows x by two samples. 0 unless
	// another shift is clearly better.
	Lag        int     `json:"lag"`
	LagPearson float64 `json:"pearson_at_lag"`

	Effective float64 `json:"independent_samples"` // how many independent samples N samples amount to, see effective
	// how likely such a Pearson is by chance, of two metrics
	// that have nothing to do with one another
	P              float64 `json:"by_chance"`
	NearlyConstant bool    `json:"-"` // one of them is the same in nearly all samples
}

// A pair is two metrics in the samples in which both are defined.
type pair struct {
	x, y    []float64
	samples []int
}

func newPair(x, y Column, l List) pair { return shiftedPair(x, y, l, 0) }

// shiftedPair pairs each value of x with the one that y has some
// samples later.
func shiftedPair(x, y Column, l List, later int) (p pair) {
	for i := max(0, -later); i < min(len(x), len(y)-later); i++ {
		a, b := x[i], y[i+later]
		if l.Has(i) && l.Has(i+later) && isFinite(a) && isFinite(b) {
			p.x, p.y, p.samples = append(p.x, a), append(p.y, b), append(p.samples, i)
		}
	}
	return p
}

func isFinite(x float64) bool { return Defined(x) && !math.IsInf(x, 0) }

// OverSamples returns a function that correlates metrics over the samples
// of a list.
func OverSamples(l List) func(x, y *Metric) Correlation {
	return func(x, y *Metric) Correlation { return Correlate(x.Column, y.Column, l) }
}

// Correlate correlates two metrics over a list.
func Correlate(x, y Column, l List) Correlation {
	p := newPair(x, y, l)
	c := Correlation{N: len(p.x), Pearson: pearson(p.x, p.y), Spearman: undefined,
		Without: undefined}
	c.Differences = p.differences()
	c.Effective = p.effective()
	c.P = chance(c.Pearson, c.Effective)
	c.NearlyConstant = few(p.x) || few(p.y)
	if Defined(c.Pearson) {
		c.Spearman = Spearman(p.x, p.y)
	}
	var rest pair
	high := p.leverage()
	for i := range p.x {
		if high[i] {
			c.Leverage = append(c.Leverage, p.samples[i])
		} else {
			rest.x, rest.y = append(rest.x, p.x[i]), append(rest.y, p.y[i])
		}
	}
	if len(c.Leverage) > 0 {
		c.Without = pearson(rest.x, rest.y)
	}
	c.Lag, c.LagPearson = bestLag(x, y, l, c.Pearson)
	return c
}

// Spearman returns the correlation of the ranks of two slices of
// one length.
func Spearman(x, y []float64) float64 { return pearson(ranks(x), ranks(y)) }

// pearson returns the correlation coefficient of two slices of
// one length. It is undefined if one slice has one value only.
func pearson(x, y []float64) float64 {
	mx, my := mean(x), mean(y)
	var sxx, syy, sxy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		sxx += dx * dx
		syy += dy * dy
		sxy += dx * dy
	}
	if constantValues(x) || constantValues(y) || sxx == 0 || syy == 0 {
		return undefined
	}
	return max(-1, min(1, sxy/math.Sqrt(sxx)/math.Sqrt(syy)))
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// deviance returns the standard deviation of at least two values.
func deviance(x []float64) float64 {
	m, squares, rest := mean(x), 0.0, 0.0
	for _, v := range x {
		squares += (v - m) * (v - m)
		rest += v - m // what rounding has left in the mean
	}
	n := float64(len(x))
	return math.Sqrt((squares - rest*rest/n) / (n - 1))
}

// constantValues reports whether all values are equal. Their mean may differ
// from them, by rounding.
func constantValues(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v != x[0] })
}

// ranks returns the rank of each value, from 1 up; equal values
// have their mean rank.
func ranks(x []float64) []float64 {
	order := ascending(x)
	r := make([]float64, len(x))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && x[order[to]] == x[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			r[i] = float64(from+to+1) / 2
		}
		from = to
	}
	return r
}

// ascending returns the indexes of values in the order of the values.
func ascending(x []float64) []int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	return order
}

// leverage returns which points have a high leverage.
func (p pair) leverage() []bool {
	high := make([]bool, len(p.x))
	for _, side := range [][]float64{p.x, p.y} {
		if len(side) == 0 || constantValues(side) {
			continue
		}
		m, n := mean(side), float64(len(side))
		var sum float64
		for _, v := range side {
			sum += (v - m) * (v - m)
		}
		for i, v := range side {
			high[i] = high[i] || 1/n+(v-m)*(v-m)/sum > 4/n
		}
	}
	return high
}

// differences correlates the differences between samples that are neighbours in
// the recording.
func (p pair) differences() float64 {
	var dx, dy []float64
	for i := 1; i < len(p.samples); i++ {
		if p.samples[i] == p.samples[i-1]+1 {
			dx, dy = append(dx, p.x[i]-p.x[i-1]), append(dy, p.y[i]-p.y[i-1])
		}
	}
	return pearson(dx, dy)
}

const (
	// maxLag is the greatest shift that bestLag tries, in samples.
	maxLag = 10

	// minLagged is how many pairs a shift needs, for each sample
	// of the shift.
	minLagged = 4

	// A shift is worth mentioning if the correlation is closer
	// to 1 or -1 by betterLag.
	betterLag = 0.1

	// likelyLag is how likely such a correlation may be by
	// chance at any of the shifts that are tried.
	likelyLag = 0.05
)

// bestLag returns the shift of y at which the two correlate
// clearly better than without a shift, and not by chance. If
// there is none, it returns 0.
func bestLag(x, y Column, l List, now float64) (lag int, r float64) {
	r = now
	best := math.Abs(now)
	if !Defined(now) {
		return 0, r
	}
	best += betterLag
	var of pair // with the best shift
	for k := -maxLag; k <= maxLag; k++ {
		at := shiftedPair(x, y, l, k)
		if k == 0 || len(at.x) < minLagged*max(k, -k) {
			continue
		}
		if shifted := pearson(at.x, at.y); math.Abs(shifted) > best {
			lag, r, best, of = k, shifted, math.Abs(shifted), at
		}
	}
	if lag != 0 && chance(r, of.effective()) > likelyLag/(2*maxLag) {
		return 0, now
	}
	return lag, r
}

// fewEvents is how often a metric must differ from its most
// frequent value.
const fewEvents = 5

// few reports whether a metric has fewer than fewEvents values,
// or differs from its most frequent value in fewer samples.
func few(x []float64) bool {
	counts := make(map[float64]int)
	most := 0
	for _, v := range x {
		counts[v]++
		most = max(most, counts[v])
	}
	others := len(x) - most
	return len(x) < fewEvents || others < fewEvents
}
