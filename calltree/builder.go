package calltree

import (
	"fmt"
	"math"
	"math/big"
)

// A Builder collects stacks with their weights into a tree. Node 0 is the root; further nodes come from Child.
type Builder struct {
	syms    *Symbols
	parent  []int32
	fn      []Func
	child   map[childKey]int32
	metrics []*weights
}

type childKey struct {
	parent int32
	fn     Func
}

// NewBuilder starts a tree with the given root frame and one metric, whose denominator is set by SetDenominator.
func NewBuilder(syms *Symbols, root, metric, unit string) *Builder {
	b := &Builder{syms: syms, child: make(map[childKey]int32)}
	b.parent = append(b.parent, -1)
	b.fn = append(b.fn, syms.Intern(root))
	b.AddMetric(metric, unit)
	return b
}

// AddMetric adds a further weight and returns its index; the first metric is 0.
func (b *Builder) AddMetric(name, unit string) int {
	b.metrics = append(b.metrics, newWeights(name, unit))
	return len(b.metrics) - 1
}

// SetDenominator sets what costs in a metric are fractions of. Without it, they are fractions of the absolute value of
// the sum of all weights.
func (b *Builder) SetDenominator(metric int, d *big.Rat) {
	b.metrics[metric].denominator = new(big.Rat).Set(d)
}

// CountHits lets a metric count its hits, see AddHits. There are so many hits in the metric's denominator, and squares is the
// sum of the squares of their weights. It can be called at any time.
func (b *Builder) CountHits(metric int, hits *big.Rat, squares float64) {
	w := b.metrics[metric]
	w.squares = squares
	w.counted().denominator = new(big.Rat).Set(hits)
}

// Symbols returns the table in which the builder's frames are interned.
func (b *Builder) Symbols() *Symbols { return b.syms }

// Len returns the number of nodes so far.
func (b *Builder) Len() int { return len(b.parent) }

// Child returns the node for a call of f from the given node.
func (b *Builder) Child(node int32, f Func) int32 {
	k := childKey{node, f}
	if c, ok := b.child[k]; ok {
		return c
	}
	c := int32(len(b.parent))
	b.child[k] = c
	b.parent = append(b.parent, node)
	b.fn = append(b.fn, f)
	return c
}

// Stack returns the node of a whole stack below the root.
func (b *Builder) Stack(frames ...string) int32 {
	var n int32
	for _, f := range frames {
		n = b.Child(n, b.syms.Intern(f))
	}
	return n
}

// Add adds the weight num/den of a metric to the stack that ends at node; den is at least 1.
func (b *Builder) Add(metric int, node int32, num, den int64) { b.metrics[metric].add(node, num, den) }

// AddHits is Add for the weight of hits, which it counts: it adds hits/den hits that weigh weight/den together.
func (b *Builder) AddHits(metric int, node int32, weight, hits, den int64) {
	b.metrics[metric].addHits(node, weight, hits, den)
}

// AddRat is Add for any exact weight.
func (b *Builder) AddRat(metric int, node int32, weight *big.Rat) {
	b.metrics[metric].addRat(node, weight)
}

// AddTotal is AddHits for any exact numbers.
func (b *Builder) AddTotal(metric int, node int32, t Total) {
	b.metrics[metric].addRat(node, t.Weight)
	b.metrics[metric].counted().addRat(node, t.Hits)
}

// Tree lays the stacks out in preorder; siblings keep the order in which they were added. It fails if there are more
// nodes than an int32 can count. The builder must not be used afterwards.
func (b *Builder) Tree() (*Tree, error) {
	if len(b.parent) > math.MaxInt32 {
		return nil, fmt.Errorf("call tree: %d nodes are more than the %d that can be numbered", len(b.parent), math.MaxInt32)
	}
	order, at := preorder(b.parent)
	n := len(order)
	t := &Tree{syms: b.syms, parent: make([]int32, n), fn: make([]Func, n)}
	for i, old := range order {
		t.fn[i] = b.fn[old]
		t.parent[i] = -1
		if p := b.parent[old]; p >= 0 {
			t.parent[i] = at[p]
		}
	}
	t.end = subtreeEnds(t.parent)
	for _, w := range b.metrics {
		t.metrics = append(t.metrics, w.metric(t.parent, at))
	}
	return t, nil
}

// preorder numbers nodes whose parents come before them: order[new] = old, at[old] = new. A node's number is its
// parent's number, plus 1, plus the sizes of the subtrees of the siblings before it. It uses no recursion, which could
// overflow the stack for a deep tree: it sums the sizes from the last node to the first; then next holds, for each node,
// the number of its next child.
//
//	old     0   1   2   3   4      calls as they came: *, a, d, a b, a c
//	parent -1   0   0   1   1
//	size    5   3   1   1   1
//	at      0   1   4   2   3      a is 1; d goes behind the three nodes of a
func preorder(parent []int32) (order, at []int32) {
	n := len(parent)
	size := make([]int32, n)
	for i := n - 1; i >= 0; i-- {
		size[i]++
		if i > 0 {
			size[parent[i]] += size[i]
		}
	}
	at = make([]int32, n)
	next := make([]int32, n) // the number of a node's next child
	next[0] = 1
	for i := 1; i < n; i++ {
		p := parent[i]
		at[i] = next[p]
		next[p] += size[i]
		next[i] = at[i] + 1
	}
	order = make([]int32, n)
	for i, a := range at {
		order[a] = int32(i)
	}
	return order, at
}

// subtreeEnds returns the end of each node's subtree, for nodes in preorder. It goes from the last node to the first: a
// leaf ends right behind itself, and a parent takes the end of its last child, which is the first one that it meets.
func subtreeEnds(parent []int32) []int32 {
	end := make([]int32, len(parent))
	for i := len(parent) - 1; i >= 0; i-- {
		if end[i] == 0 {
			end[i] = int32(i) + 1
		}
		if p := parent[i]; p >= 0 && end[p] < end[i] {
			end[p] = end[i]
		}
	}
	return end
}
