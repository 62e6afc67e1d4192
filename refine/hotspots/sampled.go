package hotspots

import (
	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/views/calltree"
)

// Sampled returns the share that stacks have in a metric's
// denominator, with its interval. The stacks are those that end
// at the nodes of some ranges [from, to). It returns nil if it
// is not known when the stacks got their hits: the interval
// would have to assume that hits are independent, which
// goroutines of one sample are not.
func Sampled(m *calltree.Metric, ranges ...[2]int32) *Estimate {
	s := m.Slices()
	if s == nil {
		return nil
	}
	all := make([]Observation, len(s.Whole))
	for i, hits := range s.Hits(ranges...) {
		all[i] = Observation{Weight: s.Lengths[i], Hits: hits, Base: s.Whole[i]}
	}
	return new(Estimated(all, s.Each))
}

// CostInterval returns the cost of a path in the tree's main
// metric with its interval; see Sampled. The root of a tree that
// has all of the denominator has none: it always does.
func CostInterval(t *calltree.Tree, m *calltree.Membership, p callpath.Path) *Estimate {
	metric := t.Main()
	if metric.Slices() == nil ||
		len(p.Elements) == 1 && metric.Cum(0).Cmp(metric.Denominator) == 0 {
		return nil
	}
	var ranges [][2]int32
	callpath.Satisfying(t, m, p,
		func(n int32) { ranges = append(ranges, [2]int32{n, t.Ends()[n]}) })
	return Sampled(metric, ranges...)
}

// Difference returns one share minus another; nil if the
// interval of one is not known.
func Difference(a, b *Estimate) *Estimate {
	if a == nil || b == nil {
		return nil
	}
	return new(a.Minus(*b))
}

// interval returns the interval of the share of a summary, or of
// the difference of its shares in two profiles. Differences of
// counts have none.
func (p *Trees) interval(s *Summary) *Estimate {
	if len(p.sides) > 1 && p.unit != "" {
		return nil
	}
	var parts []*Estimate
	for i, side := range p.sides {
		parts = append(parts, Sampled(side.metric, side.stacks(s.item(i))...))
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return Difference(parts[0], parts[1])
}
