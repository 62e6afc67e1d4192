package hotspots

import (
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// An item is one call sequence of a list whose totals are computed.
type item struct {
	places places
	length int32
	plain  bool // no name occurs twice, so that no two of its paths share a node
}

// A pair is a node, and what is said of it. Pairs are in order of
// their nodes.
type pair uint64

func pairOf(node, of int32) pair { return pair(node)<<32 | pair(of) }

func (p pair) node() int32 { return int32(p >> 32) }

func (p pair) of() int32 { return int32(uint32(p)) }

// base sums the own cost of all nodes along the paths of the
// items. Each node counts once.
func (s *side) base(list []item) *big.Rat {
	sums := make([]int64, len(s.planes))
	for _, it := range list {
		for _, n := range it.places.finals {
			for range it.length {
				if s.mark[n] == 0 {
					s.mark[n] = 1
					for k, p := range s.planes {
						sums[k] += p.Own[n]
					}
				}
				n = s.parent[n]
			}
		}
	}
	for _, it := range list {
		for _, n := range it.places.finals {
			for range it.length {
				s.mark[n] = 0
				n = s.parent[n]
			}
		}
	}
	return s.hits(sums)
}

// cums returns the cum of each prefix of the list: of list[:1],
// list[:2] and so on.
func (s *side) cums(list []item) []*big.Rat {
	for i := range list {
		if !list[i].plain {
			list[i].places = s.outermost(list[i].places)
		}
	}
	ends, interior := endsOf(list), s.interior(list)
	sums := make([][]int64, len(s.planes))
	for i, p := range s.planes {
		sums[i] = s.prefixCums(len(list), ends, interior, p)
	}
	out := make([]*big.Rat, len(list))
	digits := make([]int64, len(s.planes))
	for i := range out {
		for k := range sums {
			digits[k] = sums[k][i]
		}
		out[i] = s.hits(digits)
	}
	return out
}

// outermost returns the places whose finals are not below
// another final. They have the cum of all places of a call
// sequence. For example, "a b a b" has two places in the stack
// main a b a b a b:
//
//	main  a  b  a  b  a  b
//	      root------final
//	            root------final
//
// The part of the second place above the first final is in the
// first place, since both have the same length; the rest is
// below that final.
func (s *side) outermost(p places) places {
	var out places
	until := int32(0)
	for i, f := range p.finals {
		if f >= until {
			out.roots, out.finals = append(out.roots, p.roots[i]), append(out.finals, f)
			until = s.end[f]
		}
	}
	return out
}

// prefixCums finds for every node the first index of the list at
// which it counts, as a node along a path or as one below a
// path's end, and sums the cost that each index adds. Ends and
// interior, each of a node and an index, are in preorder, so that
// the ends above a node form a stack. Along that stack the index
// falls, since an end below another one adds cost only if it
// comes earlier in the list.
func (s *side) prefixCums(items int, ends, interior []pair, p calltree.Plane) []int64 {
	sums := make([]int64, items)
	var open []pair
	// count adds the hits of a node from an index on, unless an
	// end of a lower index above it has counted them.
	count := func(e pair, hits int64) (counted bool) {
		for len(open) > 0 && s.end[open[len(open)-1].node()] <= e.node() {
			open = open[:len(open)-1]
		}
		if top := len(open) - 1; top >= 0 {
			if open[top].of() <= e.of() {
				return false
			}
			sums[open[top].of()] -= hits
		}
		sums[e.of()] += hits
		return true
	}
	for _, e := range ends {
		for len(interior) > 0 && interior[0].node() < e.node() {
			count(interior[0], p.Own[interior[0].node()])
			interior = interior[1:]
		}
		if count(e, p.Cum[e.node()]) {
			open = append(open, e)
		}
	}
	for _, n := range interior {
		count(n, p.Own[n.node()])
	}
	for i := 1; i < len(sums); i++ {
		sums[i] += sums[i-1]
	}
	return sums
}

// interior returns the nodes of the items' paths before their
// ends, in preorder, each once with the lowest index of its
// items. Paths of one item can share nodes unless the item is
// plain. The paths are walked in preorder of their roots, so
// that among the paths through a node the one that begins
// farthest up comes first: a later one stops there.
func (s *side) interior(list []item) []pair {
	var found []pair
	for i, it := range list {
		stamp := int32(i) + 1
		finals := it.places.finals
		if !it.plain {
			finals = finalsByRoot(it.places)
		}
		for _, n := range finals {
			for range it.length - 1 {
				n = s.parent[n]
				if s.mark[n] == stamp {
					break
				}
				if s.mark[n] == 0 {
					found = append(found, pairOf(n, int32(i)))
				}
				s.mark[n] = stamp
			}
		}
	}
	slices.Sort(found)
	for _, f := range found {
		s.mark[f.node()] = 0
	}
	return found
}

// stacks returns the ranges of the nodes at which the item's
// stacks end: those along its paths, and all below the paths'
// ends.
func (s *side) stacks(it item) (ranges [][2]int32) {
	until := int32(0)
	interior := s.interior([]item{it})
	for _, f := range s.outermost(it.places).finals {
		for ; len(interior) > 0 && interior[0].node() < f; interior = interior[1:] {
			if n := interior[0].node(); n >= until {
				ranges = append(ranges, [2]int32{n, n + 1})
			}
		}
		until = s.end[f]
		ranges = append(ranges, [2]int32{f, until})
	}
	return ranges
}

// finalsByRoot returns the finals in preorder of their roots.
func finalsByRoot(p places) []int32 {
	if slices.IsSorted(p.roots) {
		return p.finals
	}
	return lists.Each(sortedPairs(p.roots, p.finals), pair.of)
}

// nameSums returns the base and cum of every name, by plane
// within a name. It does not add a node below another one of its
// name to the cum again.
func (s *side) nameSums(names int) (base, cum [][]int64) {
	base, cum = digitsOf(names, len(s.planes)), digitsOf(names, len(s.planes))
	for k, p := range s.planes {
		until := make([]int32, names)
		for n, f := range s.name {
			base[f][k] += p.Own[n]
			if int32(n) >= until[f] {
				cum[f][k] += p.Cum[n]
				until[f] = s.end[n]
			}
		}
	}
	return base, cum
}

func digitsOf(rows, planes int) [][]int64 {
	all := make([]int64, rows*planes)
	out := make([][]int64, rows)
	for i := range out {
		out[i] = all[i*planes : (i+1)*planes]
	}
	return out
}

// endsOf returns the finals of all items in preorder; for one node,
// the lowest index comes first.
func endsOf(list []item) []pair {
	var all []pair
	for i, it := range list {
		for _, n := range it.places.finals {
			all = append(all, pairOf(n, int32(i)))
		}
	}
	slices.Sort(all)
	return all
}

func sortedPairs(nodes, of []int32) []pair {
	pairs := make([]pair, len(nodes))
	for i, n := range nodes {
		pairs[i] = pairOf(n, of[i])
	}
	slices.Sort(pairs)
	return pairs
}

func (s *side) hits(sums []int64) *big.Rat {
	h := s.metric.Weight(sums...)
	if s.factor != nil {
		h.Mul(h, s.factor)
	}
	return h
}

// plain reports whether no name occurs twice in a call sequence.
func plain(path []int32) bool {
	sorted := slices.Sorted(slices.Values(path))
	return len(slices.Compact(sorted)) == len(path)
}
