package hotspots

import (
	"math"
	"math/big"

	"github.com/cpprof/cpprof/views/calltree"
)

// An Interval contains the true share with a probability of 95 %, if samples are taken independently.
type Interval struct {
	Low, High float64
}

// interval returns Wilson's interval for the share in a single profile, and Newcombe's (method 10) for a difference of
// shares.
func (p *Trees) interval(s Summary) *Interval {
	var parts []wilson
	for i, side := range p.sides {
		if !sampled(side.metric) || len(p.sides) > 1 && p.unit != "" {
			return nil
		}
		cum := func(m *calltree.Metric) *big.Rat {
			one := *side
			one.metric, one.planes, one.factor = m, m.Planes(), nil
			return one.cums(p.items(i, []Summary{s}))[0]
		}
		parts = append(parts, newWilson(side.metric, calltree.Total{Weight: cum(side.metric), Hits: cum(side.metric.Hits())}))
	}
	if len(parts) == 1 {
		return &Interval{parts[0].low, parts[0].high}
	}
	return difference(parts[0], parts[1])
}

// difference returns Newcombe's interval for the difference of two shares.
func difference(a, b wilson) *Interval {
	d := a.share - b.share
	return &Interval{d - math.Hypot(a.share-a.low, b.high-b.share), d + math.Hypot(a.high-a.share, b.share-b.low)}
}

// CostInterval returns Wilson's interval for the cost of a total, or nil if it is not known how many hits it is based on.
func CostInterval(m *calltree.Metric, t calltree.Total) *Interval {
	if !sampled(m) {
		return nil
	}
	w := newWilson(m, t)
	return &Interval{w.low, w.high}
}

// DifferenceInterval returns Newcombe's interval for a cost in one profile minus a cost in another, or nil if it is not known
// how many hits they are based on.
func DifferenceInterval(a, b *calltree.Metric, inA, inB calltree.Total) *Interval {
	if !sampled(a) || !sampled(b) {
		return nil
	}
	return difference(newWilson(a, inA), newWilson(b, inB))
}

// sampled reports whether a metric was found by sampling: it counts hits, or its weights are hits.
func sampled(m *calltree.Metric) bool { return m.Hits().Unit == "samples" && m.Denominator.Sign() > 0 }

type wilson struct {
	share, low, high float64
}

func newWilson(m *calltree.Metric, t calltree.Total) wilson {
	share, _ := m.Cost(t.Weight).Float64()
	share = min(max(share, 0), 1)
	n := effectiveHits(m, share, t.Hits)
	const z = 1.959964 // 95 % of a normal distribution
	center := (share + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	return wilson{share, max(center-half, 0), min(center+half, 1)}
}

// effectiveHits returns how many hits of equal weight would have the standard error of a share that some hits have by
// weight.
//
// A share p is a ratio of sums of weights: those of h hits over those of all n hits, D. Its variance is about the sum of (w*(y-p))^2
// over all hits, divided by D^2; w is the weight of a hit, and y is 1 for the h hits, 0 for the others. That is
//
//	((1-p)^2 * Y + p^2 * N) / D^2
//
// Y and N are the sums of the squares of the weights of the h hits and of the others. Their sum is known (Metric.Squares).
// It is divided here as if the weights in each of the two groups were equal: in proportion to (p*D)^2/h and
// ((1-p)*D)^2/(n-h). With equal weights, all that comes to p*(1-p)/n.
func effectiveHits(m *calltree.Metric, p float64, hits *big.Rat) float64 {
	whole, _ := m.Denominator.Float64()
	n, _ := m.Hits().Denominator.Float64()
	h, _ := hits.Float64()
	spread := m.Squares() / (whole * whole)
	if p <= 0 || p >= 1 || h <= 0 || h >= n {
		return 1 / spread
	}
	return (p*p/h + (1-p)*(1-p)/(n-h)) / (spread * p * (1 - p) * (1/h + 1/(n-h)))
}
