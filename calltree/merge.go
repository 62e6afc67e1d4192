package calltree

import (
	"fmt"
	"math/big"
)

// Merge returns one tree with the stacks of two trees; frames are the same if their names are. It uses the first metric
// of a and of b; both trees must have the same root and unit. The first metric of the result has the sums of the hits
// and of the denominators of both, the second has those of a, and the third those of b (see Sides). For example, if "*
// f" has 3 of 10 hits in a and 1 of 5 in b, it has 4 of 15, 3 of 10, and 1 of 5. The first metric serves to refine both
// trees at once; the costs of an entry come from the other two.
func Merge(a, b *Tree) (*Tree, error) {
	m, o := a.Main(), b.Main()
	if a.Root() != b.Root() || m.Unit != o.Unit {
		return nil, fmt.Errorf("merge call trees: one is of %s in %s, the other of %s in %s: choose the same view and unit for both",
			a.Root(), m.Unit, b.Root(), o.Unit)
	}
	to := NewBuilder(new(Symbols), a.Root(), m.Name, m.Unit)
	to.SetDenominator(0, new(big.Rat).Add(m.Denominator, o.Denominator))
	for _, t := range []*Tree{a, b} {
		metric := to.AddMetric(t.Main().Name, t.Main().Unit)
		to.SetDenominator(metric, t.Main().Denominator)
		to.addTree(t, 0, metric)
	}
	return to.Tree()
}

// addTree adds the stacks of a tree, with the hits of its first metric, to several metrics.
func (b *Builder) addTree(t *Tree, metrics ...int) {
	fn := make([]Func, t.syms.Len())
	for f := range fn {
		fn[f] = b.syms.Intern(t.syms.Name(Func(f)))
	}
	at := make([]int32, t.Len())
	m := t.Main()
	for n := range at {
		if n > 0 {
			at[n] = b.Child(at[t.parent[n]], fn[t.fn[n]])
		}
		own := m.Own(int32(n))
		if own.Sign() == 0 {
			continue
		}
		for _, metric := range metrics {
			b.AddRat(metric, at[n], own)
		}
	}
}

// Sides returns the two trees that t was merged from. t may also be a filtered merged tree.
func (t *Tree) Sides() (a, b *Tree) { return t.Only(1), t.Only(2) }

// Only returns the same tree with one of its metrics.
func (t *Tree) Only(metric int) *Tree {
	only := *t
	only.metrics = t.metrics[metric : metric+1 : metric+1]
	return &only
}
