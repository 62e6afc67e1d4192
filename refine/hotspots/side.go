package hotspots

import (
	"math"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// A side is one call tree of a profile, with the names of its
// frames replaced by the profile's numbers for them.
type side struct {
	parent, end []int32
	name        []int32 // by node
	metric      *calltree.Metric
	planes      []calltree.Plane
	// by plane: the own cost of each node; a function's includes
	// its typed time
	bodies [][]int64
	factor *big.Rat // of hits; nil is 1

	nodes lists.Groups[int32] // by name, in preorder within a name
	// by name: the number of nodes below its nodes, those below
	// several of them several times
	below []int

	mark   []int32 // scratch of the sums, by node; all 0 between them
	groups *groups // scratch of tops and bottoms
}

// places are the positions of a call sequence in one tree: the
// paths labelled with it begin at roots and end at the finals of
// the same index. Both are in preorder of the finals.
type places struct {
	roots, finals []int32
}

func newSide(t *calltree.Tree, name []int32, factor *big.Rat) *side {
	m := t.Main()
	s := &side{parent: t.Parents(), end: t.Ends(), name: name, metric: m, planes: m.Planes(),
		factor: factor,
		mark:   make([]int32, t.Len())}
	for _, p := range s.planes {
		s.bodies = append(s.bodies, t.Fold(p.Own))
	}
	return s
}

// index groups the nodes by name.
func (s *side) index(names int) {
	s.nodes, s.below = lists.GroupBy(s.name, names), make([]int, names)
	for n, f := range s.name {
		s.below[f] += int(s.end[n]) - n - 1
	}
	s.groups = newGroups(names)
}

// all returns the places of a name.
func (s *side) all(name int32) places {
	nodes := s.nodes.Of(name)
	return places{nodes, nodes}
}

// find returns the places of a call sequence. It searches up and
// down from one of its names: one that is rare, and unless it is
// the last one, has few calls below.
func (s *side) find(path []int32) places {
	if len(path) == 1 {
		return s.all(path[0])
	}
	rarest, least := 0, math.MaxInt
	for i, name := range path {
		cost := len(s.all(name).finals)
		if i < len(path)-1 {
			cost += s.below[name]
		}
		if cost < least {
			rarest, least = i, cost
		}
	}
	var found places
	for _, n := range s.all(path[rarest]).finals {
		if root := s.up(n, path[:rarest]); root >= 0 {
			found = s.down(found, root, n, path[rarest+1:])
		}
	}
	return inPreorder(found)
}

// up returns the first node of the path that leads to a call of n, or -1.
func (s *side) up(n int32, path []int32) int32 {
	for i := len(path) - 1; i >= 0; i-- {
		n = s.parent[n]
		if n < 0 || s.name[n] != path[i] {
			return -1
		}
	}
	return n
}

// down adds the places of the paths from root through n that
// continue with rest below n.
func (s *side) down(to places, root, n int32, rest []int32) places {
	if len(rest) == 0 {
		return places{append(to.roots, root), append(to.finals, n)}
	}
	for c := n + 1; c < s.end[n]; c = s.end[c] {
		if s.name[c] == rest[0] {
			to = s.down(to, root, c, rest[1:])
		}
	}
	return to
}

// tops groups places by the callers of their roots.
func (s *side) tops(p places) map[int32]places {
	g := s.groups
	for _, r := range p.roots {
		if up := s.parent[r]; up >= 0 {
			g.count(s.name[up])
		}
	}
	g.split()
	for i, r := range p.roots {
		if up := s.parent[r]; up >= 0 {
			g.put(s.name[up], up, p.finals[i])
		}
	}
	return g.places()
}

// bottoms groups the calls from the finals by callee.
func (s *side) bottoms(p places) map[int32]places {
	g := s.groups
	for _, f := range p.finals {
		for c := f + 1; c < s.end[f]; c = s.end[c] {
			g.count(s.name[c])
		}
	}
	g.split()
	for i, f := range p.finals {
		for c := f + 1; c < s.end[f]; c = s.end[c] {
			g.put(s.name[c], p.roots[i], c)
		}
	}
	of := g.places()
	for name, p := range of {
		of[name] = inPreorder(p)
	}
	return of
}

// inPreorder sorts places by finals: calls below nested finals
// are found out of order.
func inPreorder(p places) places {
	if slices.IsSorted(p.finals) {
		return p
	}
	for i, f := range sortedPairs(p.finals, p.roots) {
		p.finals[i], p.roots[i] = f.node(), f.of()
	}
	return p
}

// groups splits places by name, in two passes over them: first
// count, then put. It is used again and again: most splits meet
// few of the names.
type groups struct {
	// by name: the number of places; later, the number already
	// put; all 0 between two uses
	counts []int32
	starts []int32 // by name: the index of the first one in all
	seen   []int32 // names, in the order of their first count
	all    places  // of all names, one after the other
}

func (g *groups) count(name int32) {
	if g.counts[name] == 0 {
		g.seen = append(g.seen, name)
	}
	g.counts[name]++
}

func (g *groups) split() {
	total := int32(0)
	for _, name := range g.seen {
		g.starts[name] = total
		total += g.counts[name]
		g.counts[name] = 0
	}
	g.all = places{make([]int32, total), make([]int32, total)}
}

func (g *groups) put(name, root, final int32) {
	i := g.starts[name] + g.counts[name]
	g.all.roots[i], g.all.finals[i] = root, final
	g.counts[name]++
}

func newGroups(names int) *groups {
	return &groups{counts: make([]int32, names), starts: make([]int32, names)}
}

// places returns the places by name, and ends this use of the groups.
func (g *groups) places() map[int32]places {
	out := make(map[int32]places, len(g.seen))
	for _, name := range g.seen {
		from, to := g.starts[name], g.starts[name]+g.counts[name]
		out[name] = places{g.all.roots[from:to:to], g.all.finals[from:to:to]}
		g.counts[name] = 0
	}
	g.seen, g.all = g.seen[:0], places{}
	return out
}
