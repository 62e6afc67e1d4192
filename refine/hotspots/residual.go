package hotspots

import (
	"math"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/internal/intern"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// A residual is a profile of the cost that the labelled
// summaries do not cover: the nodes along their paths and below
// have no cost in it. Its starts are the call sequences at which
// a search can begin: a function, and below functions also the
// typed time and the classes in which its stacks end. Typed time
// alone, such as "something runs", would say too little.
type residual struct {
	profile *Trees
	starts  intern.List[start, int32]
	sides   []residualSide
	ranking *ranking
}

// A start is a frame's name below another start, or below none
// if the frame is a function.
type start struct {
	up, name int32
}

type residualSide struct {
	*side
	ranking   *ranking
	start     []int32 // by node
	outermost []bool  // by node: not below another node of its start
	covered   []bool  // by node: it and all nodes below it
	digit     []float64
	base, cum [][]int64 // by plane and start
}

func newResidual(of *Trees) *residual {
	copied := *of
	copied.sides = nil
	r := &residual{profile: &copied}
	for _, s := range of.sides {
		own := *s
		own.mark, own.groups = make([]int32, len(s.mark)), newGroups(of.names.Len())
		own.planes = lists.Each(s.planes, func(p calltree.Plane) calltree.Plane {
			return calltree.Plane{Own: slices.Clone(p.Own), Cum: slices.Clone(p.Cum)}
		})
		copied.sides = append(copied.sides, &own)
		r.sides = append(r.sides, residualSide{side: &own, covered: make([]bool, len(s.name))})
		r.number(&r.sides[len(r.sides)-1])
	}
	r.ranking = newRanking(r)
	for i := range r.sides {
		r.sides[i].sum(len(r.starts.All))
		r.sides[i].ranking = r.ranking
	}
	r.ranking.update(r)
	return r
}

// number sets the start of each node of a side.
func (r *residual) number(s *residualSide) {
	s.start = make([]int32, len(s.name))
	for n, name := range s.name {
		k := start{-1, name}
		if r.profile.names.Kind(calltree.Func(name)) != calltree.Function && n > 0 {
			k.up = s.start[s.parent[n]]
		}
		s.start[n] = r.starts.Number(k)
	}
}

// sum computes the costs of the starts.
func (s *residualSide) sum(starts int) {
	s.outermost = make([]bool, len(s.start))
	until := make([]int32, starts)
	for n, id := range s.start {
		if int32(n) >= until[id] {
			s.outermost[n] = true
			until[id] = s.end[n]
		}
	}
	unit := make([]int64, len(s.planes))
	for k, p := range s.planes {
		base, cum := make([]int64, starts), make([]int64, starts)
		for n, id := range s.start {
			base[id] += p.Own[n]
			if s.outermost[n] {
				cum[id] += p.Cum[n]
			}
		}
		s.base, s.cum = append(s.base, base), append(s.cum, cum)
		clear(unit)
		unit[k] = 1
		digit, _ := s.hits(unit).Float64()
		s.digit = append(s.digit, digit)
	}
}

// path returns the call sequence of a start.
func (r *residual) path(id int32) []string {
	var path []string
	for ; id >= 0; id = r.starts.All[id].up {
		path = append(path, r.profile.name(r.starts.All[id].name))
	}
	slices.Reverse(path)
	return path
}

// score returns by how much a search should begin at a start; 0
// if it has no cost. It is base * (base / cum): a function that
// mostly calls expensive ones has to wait until these are
// labelled.
func (r *residual) score(id int32) float64 {
	if !r.rises(id) {
		return 0
	}
	base, cum := r.costs(id)
	score := base * base / max(base, math.Abs(cum))
	if !(score > 0) {
		score = math.SmallestNonzeroFloat64 // rounding must not turn a cost into none
	}
	return score
}

// costs returns approximate values, which suffice for ranking.
func (r *residual) costs(id int32) (base, cum float64) {
	for _, s := range r.sides {
		for k, digit := range s.digit {
			base += digit * float64(s.base[k][id])
			cum += digit * float64(s.cum[k][id])
		}
	}
	return base, cum
}

// left returns the cost that is not yet covered: the sum of the
// starts' bases; in a comparison, of those bases that are higher
// in the first profile.
func (r *residual) left() *big.Rat {
	left := new(big.Rat)
	for i, s := range r.sides {
		left.Add(left, s.hits(r.ranking.left[i]))
	}
	return left
}

// rises reports whether a start's base is above 0. The answer is
// exact, but big numbers are used only if it is close.
func (r *residual) rises(id int32) bool {
	base, size := 0.0, 0.0
	for _, s := range r.sides {
		for k, digit := range s.digit {
			d := digit * float64(s.base[k][id])
			base += d
			size += math.Abs(d)
		}
	}
	if size == 0 || math.Abs(base) > 1e-9*size {
		return base > 0
	}
	exact := new(big.Rat)
	for _, s := range r.sides {
		digits := lists.Each(s.base, func(base []int64) int64 { return base[id] })
		exact.Add(exact, s.hits(digits))
	}
	return exact.Sign() > 0
}

// cover removes the cost of a summary.
func (r *residual) cover(s *Summary) {
	for i := range r.sides {
		side := &r.sides[i]
		for _, final := range s.places[i].finals {
			side.coverPath(final, s.length)
		}
	}
	r.ranking.update(r)
}

// coverPath removes the cost of the nodes below a final, and of
// those along its path of the given length.
func (s *residualSide) coverPath(final int32, length int) {
	removed := make([]int64, len(s.planes)) // from the cum of the nodes above
	if !s.covered[final] {
		s.coverBelow(final, removed)
	}
	n := final
	for range length - 1 {
		n = s.parent[n]
		s.subtract(n, removed)
		if !s.covered[n] {
			s.coverNode(n, removed)
		}
	}
	some := slices.ContainsFunc(removed, func(cost int64) bool { return cost != 0 })
	for some && s.parent[n] >= 0 {
		n = s.parent[n]
		s.subtract(n, removed)
	}
}

// coverBelow removes the cost of a node and of all below it, and
// adds it to removed.
func (s *residualSide) coverBelow(n int32, removed []int64) {
	for k, p := range s.planes {
		removed[k] += p.Cum[n]
		for m := n; m < s.end[n]; m++ {
			s.base[k][s.start[m]] -= p.Own[m]
			if s.outermost[m] {
				s.cum[k][s.start[m]] -= p.Cum[m]
			}
			p.Own[m], p.Cum[m] = 0, 0
		}
	}
	for m := n; m < s.end[n]; m++ {
		s.changed(m)
		s.covered[m] = true
	}
}

// coverNode removes the own cost of a node, and adds it to removed.
func (s *residualSide) coverNode(n int32, removed []int64) {
	for k, p := range s.planes {
		own := p.Own[n]
		if own == 0 {
			continue
		}
		s.changed(n)
		s.base[k][s.start[n]] -= own
		p.Own[n] = 0
		p.Cum[n] -= own
		if s.outermost[n] {
			s.cum[k][s.start[n]] -= own
		}
		removed[k] += own
	}
}

// subtract subtracts removed cost from the cum of a node above it.
func (s *residualSide) subtract(n int32, removed []int64) {
	for k, cost := range removed {
		if cost == 0 {
			continue
		}
		s.planes[k].Cum[n] -= cost
		if s.outermost[n] {
			s.cum[k][s.start[n]] -= cost
			s.changed(n)
		}
	}
}

// changed notes that the costs of a node's start change.
func (s *residualSide) changed(n int32) { s.ranking.change(s.start[n]) }
