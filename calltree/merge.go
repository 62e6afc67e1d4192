package calltree

import (
	"fmt"
	"math/big"
)

// Merge returns the tree of the stacks of two trees, which meet by name. Its first metric is the sum of the hits and of the
// denominators of both; the second has those of a, the third those of b (see Sides). It is about the first metrics of a
// and b, whose roots and units have to be the same. For example, if "* f" has 3 of 10 hits in a and 1 of 5 in b, it has 4 of 15,
// 3 of 10, and 1 of 5. The first metric is for refining both at once; what an entry costs comes from the other two.
func Merge(a, b *Tree) (*Tree, error) {
	m, o := a.Main(), b.Main()
	if a.Root() != b.Root() || m.Unit != o.Unit {
		return nil, fmt.Errorf("merge call trees: %s, in %s, and %s, in %s, have nothing in common", a.Root(), m.Unit, b.Root(), o.Unit)
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

// Sides returns the two trees that a tree was merged of. It may also be what was left of a merged tree by a filter.
func (t *Tree) Sides() (a, b *Tree) { return t.Only(1), t.Only(2) }

// Only returns the same tree with one of its metrics.
func (t *Tree) Only(metric int) *Tree {
	only := *t
	only.metrics = t.metrics[metric : metric+1 : metric+1]
	return &only
}
