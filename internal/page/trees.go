package page

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// A tree is a call tree with what ends at its nodes.
type tree struct {
	*calltree.Tree
	side          // of the recording
	against *side // of the one that it is compared with; nil if there is none
}

// A side is what one recording has of a tree.
type side struct {
	portions []views.Portion // in the order of their nodes
	spells   []views.Spell   // by portion, then by First
	sums     []views.Sum     // in place of spells, or beside them, by portion, then by slice
}

// sideOf returns the portions and moments of a history in the
// order of a side. If nodes is not nil, nodes[n] is the node of
// the side's tree for the node n of the history.
func sideOf(h *views.History, nodes []int32) side {
	portions := slices.Clone(h.Portions)
	if nodes != nil {
		for i := range portions {
			portions[i].Node = nodes[portions[i].Node]
		}
	}
	order := make([]int32, len(portions))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order,
		func(a, b int32) int { return cmp.Compare(portions[a].Node, portions[b].Node) })
	s := side{
		portions: make([]views.Portion, len(portions)), spells: make([]views.Spell, 0, h.Spells),
		sums: make([]views.Sum, 0, h.Sums),
	}
	for i, p := range order {
		s.portions[i] = portions[p]
		spells, sums := h.Of(p)
		for _, sp := range spells {
			sp.Portion = int32(i)
			s.spells = append(s.spells, sp)
		}
		for _, m := range sums {
			m.Portion = int32(i)
			s.sums = append(s.sums, m)
		}
	}
	return s
}

// total returns the sums of a history over all samples, as a side.
func total(h *views.History, nodes []int32, w sampledata.Weights) side {
	s := sideOf(h, nodes)
	sums := make([]views.Sum, len(s.portions))
	for _, sp := range s.spells {
		from, to := h.Span(sp.First, sp.Last+1)
		sums[sp.Portion].Hits += sp.Num * int64(to-from)
		sums[sp.Portion].Weight.Add(sp.Num, w.Of(int(from), int(to)))
	}
	for _, m := range s.sums {
		sums[m.Portion].Hits += m.Hits
		sums[m.Portion].Weight.AddWide(m.Weight)
	}
	for i := range sums {
		sums[i].Portion = int32(i)
	}
	return side{portions: s.portions, sums: sums}
}

// untimed returns a tree that has only sums, such as another
// tool's profile, or a refined view.
func untimed(t *calltree.Tree) *tree {
	out := &tree{Tree: t}
	m := t.Main()
	// first: portions are in the order of nodes
	out.putTotal(views.Whole, 0, calltree.Total{Weight: m.Denominator, Hits: m.Hits().Denominator})
	for n := range int32(t.Len()) {
		if m.Integral() && m.Hits() == m {
			if own := m.Planes()[0].Own[n]; own != 0 {
				out.put(views.Ending, n, 1, own, own)
			}
			continue
		}
		if own := m.Ending(n); own.Weight.Sign() != 0 || own.Hits.Sign() != 0 {
			out.putTotal(views.Ending, n, own)
		}
	}
	return out
}

// put adds a sum with a portion of its own.
func (s *side) put(kind views.PortionKind, n int32, parts, weight, hits int64) {
	w := views.LongSum{}
	w.Add(1, weight)
	s.sums = append(s.sums, views.Sum{Portion: int32(len(s.portions)), Hits: hits, Weight: w})
	s.portions = append(s.portions, views.Portion{Kind: kind, Node: n, Parts: parts})
}

// putTotal is put for exact numbers. What the script's integers
// can't hold is rounded.
func (s *side) putTotal(kind views.PortionKind, n int32, t calltree.Total) {
	parts := exact.Multiple(t.Weight.Denom(), t.Hits.Denom())
	if !parts.IsInt64() || parts.Int64() > roundedParts {
		parts.SetInt64(roundedParts)
	}
	weight, hits := timesRounded(t.Weight, parts), timesRounded(t.Hits, parts)
	if !weight.IsInt64() || !hits.IsInt64() {
		parts.SetInt64(1)
		weight, hits = timesRounded(t.Weight, parts), timesRounded(t.Hits, parts)
	}
	s.put(kind, n, parts.Int64(), weight.Int64(), hits.Int64())
}

// roundedParts is the number of parts of rounded numbers: exact
// ones would have too many parts for 64 bits.
const roundedParts = 1 << 30

func timesRounded(x *big.Rat, parts *big.Int) *big.Int {
	return exact.Nearest(new(big.Rat).Mul(x, new(big.Rat).SetInt(parts)))
}

// compared returns the tree of two histories: of the first one
// with its spells, of the other one with its sums.
func compared(a, b *views.History, weights sampledata.Weights) (*tree, error) {
	m := a.Tree.Main()
	u := calltree.NewBuilder(new(calltree.Symbols), a.Tree.Root(), m.Name, m.Unit)
	ofA, ofB := u.AddNodes(a.Tree), u.AddNodes(b.Tree)
	t, at, err := u.Numbered()
	if err != nil {
		return nil, err
	}
	numbered := func(nodes []int32) []int32 {
		return lists.Each(nodes, func(n int32) int32 { return at[n] })
	}
	other := total(b, numbered(ofB), weights)
	return &tree{Tree: t, side: sideOf(a, numbered(ofA)), against: &other}, nil
}
