package hotspots

import (
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/views/calltree"
)

// A cover has the nodes of one side that a list of summaries covers, all in
// preorder.
type cover struct {
	along []int32 // nodes along the paths
	// ends of paths that are not below another end: they and all nodes below
	// are covered
	ranges []int32
	extra  []int32 // nodes along the paths that are in no range
}

func (s *side) cover(list []item) cover {
	c := cover{along: s.along(list)}
	until := int32(0)
	for _, e := range mergeEnds(list) {
		if e.node >= until {
			c.ranges = append(c.ranges, e.node)
			until = s.end[e.node]
		}
	}
	next := c.ranges
	for _, n := range c.along {
		for len(next) > 0 && s.end[next[0]] <= n {
			next = next[1:]
		}
		if len(next) == 0 || n < next[0] {
			c.extra = append(c.extra, n)
		}
	}
	return c
}

// along returns the nodes along the paths of the list, each once. The result
// must not be changed.
func (s *side) along(list []item) []int32 {
	if len(list) == 1 && list[0].length == 1 {
		return list[0].places.finals
	}
	var nodes []int32
	for _, it := range list {
		for _, n := range it.places.finals {
			for range it.length {
				if s.mark[n] == 0 {
					s.mark[n] = 1
					nodes = append(nodes, n)
				}
				n = s.parent[n]
			}
		}
	}
	for _, n := range nodes {
		s.mark[n] = 0
	}
	slices.Sort(nodes)
	return nodes
}

// A cursor moves forward through nodes in preorder. It finds near nodes
// faster than a search over all nodes would.
type cursor struct {
	nodes []int32
	at    int
}

// seek moves to the first node that is not before n, and reports whether it is n.
func (c *cursor) seek(n int32) bool {
	step := 1
	for c.at+step < len(c.nodes) && c.nodes[c.at+step] < n {
		step *= 2
	}
	from, to := c.at+step/2, min(c.at+step+1, len(c.nodes))
	i, found := slices.BinarySearch(c.nodes[min(from, to):to], n)
	c.at = min(from, to) + i
	return found
}

// sum moves to the first node of [from, to), and sums the values of the
// list's nodes in that range.
func (c *cursor) sum(from, to int32, values []int64) (sum int64) {
	c.seek(from)
	for i := c.at; i < len(c.nodes) && c.nodes[i] < to; i++ {
		sum += values[c.nodes[i]]
	}
	return sum
}

// within moves to the range that can contain n, and reports whether n is in it.
func (s *side) within(ranges *cursor, n int32) bool {
	return ranges.seek(n) || ranges.at > 0 && n < s.end[ranges.nodes[ranges.at-1]]
}

// cumOverlap sums the cost of the nodes in both covers. It walks the smaller
// one, and searches in the other.
func (s *side) cumOverlap(a, b cover, p calltree.Plane) (sum int64) {
	if len(a.ranges)+len(a.extra) > len(b.ranges)+len(b.extra) {
		a, b = b, a
	}
	ranges, extra := &cursor{nodes: b.ranges}, &cursor{nodes: b.extra}
	for _, r := range a.ranges {
		if s.within(ranges, r) {
			sum += p.Cum[r]
		} else {
			sum += ranges.sum(r, s.end[r], p.Cum) + extra.sum(r, s.end[r], p.Own)
		}
	}
	ranges.at, extra.at = 0, 0
	for _, n := range a.extra {
		if s.within(ranges, n) || extra.seek(n) {
			sum += p.Own[n]
		}
	}
	return sum
}

func (s *side) baseOverlap(a, b cover, p calltree.Plane) (sum int64) {
	few, many := a.along, &cursor{nodes: b.along}
	if len(few) > len(many.nodes) {
		few, many = b.along, &cursor{nodes: a.along}
	}
	for _, n := range few {
		if many.seek(n) {
			sum += p.Own[n]
		}
	}
	return sum
}

// Overlaps returns the overlaps of the cum and of the base of a summary (see
// CumOverlap) with each of several lists. Its time depends mostly on the
// smaller of the two.
func (p *Trees) Overlaps(s Summary, lists ...[]Summary) (cums, bases []*big.Rat) {
	cums, bases = make([]*big.Rat, len(lists)), make([]*big.Rat, len(lists))
	for k := range lists {
		cums[k], bases[k] = new(big.Rat), new(big.Rat)
	}
	for i, side := range p.sides {
		own := side.cover(p.items(i, []Summary{s}))
		for k, list := range lists {
			other := side.cover(p.items(i, list))
			cum, base := make([]int64, len(side.planes)), make([]int64, len(side.planes))
			for d, plane := range side.planes {
				cum[d] = side.cumOverlap(own, other, plane)
				base[d] = side.baseOverlap(own, other, plane)
			}
			cums[k].Add(cums[k], side.hits(cum))
			bases[k].Add(bases[k], side.hits(base))
		}
	}
	return cums, bases
}
