package calltree

import (
	"fmt"
	"math/big"
	"slices"
)

// Merge returns one tree with the stacks of two trees; frames
// are the same if their names are. It uses the first metric of a
// and of b; both trees must have the same root and unit. The
// first metric of the result has the sums of the weights and of
// the denominators. The second has a's, the third b's (see
// Sides). For example, if "* f" weighs 3 of 10 in a and 1 of 5
// in b, it weighs 4 of 15, 3 of 10, and 1 of 5. The first metric
// serves to refine both trees at once; the costs of an entry
// come from the other two. Hits are counted if both trees count
// them.
func Merge(a, b *Tree) (*Tree, error) {
	m, o := a.Main(), b.Main()
	if a.Root() != b.Root() || m.Unit != o.Unit {
		return nil, fmt.Errorf("merge call trees: one is of %s in %s, the other of %s in %s: choose the same view and unit for both",
			a.Root(), m.Unit, b.Root(), o.Unit)
	}
	to := NewBuilder(new(Symbols), a.Root(), m.Name, m.Unit)
	to.SetDenominator(0, new(big.Rat).Add(m.Denominator, o.Denominator))
	counted := m.hits != nil && o.hits != nil
	if counted {
		to.CountHits(0, new(big.Rat).Add(m.hits.Denominator, o.hits.Denominator))
	}
	var nodes [2][]int32 // by side and node: the node of the builder
	for side, t := range []*Tree{a, b} {
		m := t.Main()
		metric := to.AddMetric(m.Name, m.Unit)
		to.SetDenominator(metric, m.Denominator)
		if counted {
			to.CountHits(metric, m.hits.Denominator)
		}
		nodes[side] = to.addTree(t, counted, 0, metric)
	}
	t, at, err := to.Numbered()
	if err != nil {
		return nil, err
	}
	for side, from := range []*Metric{m, o} {
		old := slices.Repeat([]int32{-1}, t.Len())
		for n, node := range nodes[side] {
			old[at[node]] = int32(n)
		}
		t.metrics[1+side].slices = from.slices.renumbered(old)
	}
	return t, nil
}

// AddNodes adds the stacks of a tree without their weights. It
// returns the builder's node for each node of the tree.
func (b *Builder) AddNodes(t *Tree) []int32 {
	fn := make([]Func, t.syms.Len())
	for f := range fn {
		fn[f] = b.syms.Intern(t.syms.Name(Func(f)))
	}
	at := make([]int32, t.Len())
	for n := 1; n < len(at); n++ {
		at[n] = b.Child(at[t.parent[n]], fn[t.fn[n]])
	}
	return at
}

// addTree is AddNodes, and adds the weights of the tree's first
// metric to several metrics; and its hits, if counted is set.
func (b *Builder) addTree(t *Tree, counted bool, metrics ...int) []int32 {
	at := b.AddNodes(t)
	m := t.Main()
	for n := range at {
		own := m.Ending(int32(n))
		for _, metric := range metrics {
			switch {
			case own.Weight.Sign() == 0 && own.Hits.Sign() == 0:
			case counted:
				b.AddTotal(metric, at[n], own)
			default:
				b.AddRat(metric, at[n], own.Weight)
			}
		}
	}
	return at
}

// Sides returns the two trees that t was merged from. t may also
// be a filtered merged tree.
func (t *Tree) Sides() (a, b *Tree) { return t.Only(1), t.Only(2) }

// Only returns the same tree with one of its metrics.
func (t *Tree) Only(metric int) *Tree {
	only := *t
	only.metrics = t.metrics[metric : metric+1 : metric+1]
	return &only
}
