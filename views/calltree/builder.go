package calltree

import (
	"fmt"
	"math"
	"math/big"
)

// A Builder collects stacks with their weights into a tree. Node
// 0 is the root; further nodes come from Child.
type Builder struct {
	syms    *Symbols
	calls   *Calls // the nodes
	metrics []*weights
}

// NewBuilder starts a tree with the given root frame and one
// metric. SetDenominator sets the metric's denominator.
func NewBuilder(syms *Symbols, root, metric, unit string) *Builder {
	b := &Builder{syms: syms, calls: NewCalls(syms.Intern(root))}
	b.AddMetric(metric, unit)
	return b
}

// AddMetric adds a further weight and returns its index; the
// first metric is 0.
func (b *Builder) AddMetric(name, unit string) int {
	b.metrics = append(b.metrics, newWeights(name, unit))
	return len(b.metrics) - 1
}

// SetDenominator sets what costs in a metric are fractions of.
// Without it, they are fractions of the absolute value of the
// sum of all weights.
func (b *Builder) SetDenominator(metric int, d *big.Rat) {
	b.metrics[metric].denominator = new(big.Rat).Set(d)
}

// CountHits lets a metric count its hits, see AddHits. hits is
// the number in the metric's denominator. It can be called at
// any time.
func (b *Builder) CountHits(metric int, hits *big.Rat) {
	b.metrics[metric].counted().denominator = new(big.Rat).Set(hits)
}

// Symbols returns the table in which the builder's frames are interned.
func (b *Builder) Symbols() *Symbols { return b.syms }

// Len returns the number of nodes so far.
func (b *Builder) Len() int { return len(b.calls.List) }

// CountBelow returns the number of nodes by how many frames of a
// kind are on the way to them: the first is of the nodes without
// such a frame.
func (b *Builder) CountBelow(is func(Func) bool) []int {
	counts := []int{0}
	above := make([]int32, b.Len())
	for n, c := range b.calls.List {
		if c.Parent >= 0 {
			above[n] = above[c.Parent]
		}
		if is(c.Func) {
			above[n]++
		}
		if int(above[n]) == len(counts) {
			counts = append(counts, 0)
		}
		counts[above[n]]++
	}
	return counts
}

// Child returns the node for a call of f from the given node.
func (b *Builder) Child(node int32, f Func) int32 {
	return b.calls.Number(Call{node, f})
}

// Stack returns the node of a whole stack below the root.
func (b *Builder) Stack(frames ...string) int32 {
	var n int32
	for _, f := range frames {
		n = b.Child(n, b.syms.Intern(f))
	}
	return n
}

// Add adds the weight num/den of a metric to the stack that ends
// at node; den is at least 1.
func (b *Builder) Add(metric int, node int32, num, den int64) {
	b.metrics[metric].add(node, num, den)
}

// AddHits is Add for the weight of hits, which it counts: it
// adds hits/den hits that weigh weight/den together.
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

// Tree lays the stacks out in preorder; siblings keep the order
// in which they were added. It fails if there are more nodes
// than an int32 can count. The builder must not be used
// afterwards.
func (b *Builder) Tree() (*Tree, error) {
	t, _, err := b.Numbered()
	return t, err
}

// Numbered is Tree, and also returns the tree's node for each
// node of the builder.
func (b *Builder) Numbered() (t *Tree, at []int32, err error) {
	calls := b.calls.List
	n := len(calls)
	if n > math.MaxInt32 {
		return nil, nil, fmt.Errorf(
			"call tree: %d nodes are more than the %d that can be numbered", n, math.MaxInt32)
	}
	b.calls = nil // the memory is needed for the tree
	at = preorder(calls)
	t = &Tree{syms: b.syms, parent: make([]int32, n), fn: make([]Func, n)}
	for old, c := range calls {
		i := at[old]
		t.fn[i], t.parent[i] = c.Func, -1
		if c.Parent >= 0 {
			t.parent[i] = at[c.Parent]
		}
	}
	t.end = subtreeEnds(t.parent)
	for _, w := range b.metrics {
		t.metrics = append(t.metrics, w.metric(t.parent, at))
	}
	return t, at, nil
}

// preorder numbers nodes. Parents come before their children:
// at[old] = new. A node's number is its parent's number, plus 1,
// plus the sizes of the subtrees of the siblings before it.
// preorder uses no recursion, which could overflow the stack for
// a deep tree. It sums the sizes from the last node to the
// first. Then next holds, for each node, the number of its next
// child.
//
//	old     0   1   2   3   4      calls as they came: *, a, d, a b, a c
//	parent -1   0   0   1   1
//	size    5   3   1   1   1
//	at      0   1   4   2   3      a is 1; d goes behind the three nodes of a
func preorder(calls []Call) (at []int32) {
	n := len(calls)
	size := make([]int32, n)
	for i := n - 1; i >= 0; i-- {
		size[i]++
		if i > 0 {
			size[calls[i].Parent] += size[i]
		}
	}
	at = make([]int32, n)
	// the size of a node is not needed any more when the number
	// of its next child is known
	next := size
	next[0] = 1
	for i := 1; i < n; i++ {
		p, own := calls[i].Parent, size[i]
		at[i] = next[p]
		next[p] += own
		next[i] = at[i] + 1
	}
	return at
}

// subtreeEnds returns the end of each node's subtree, for nodes
// in preorder. It goes from the last node to the first. A leaf
// ends right behind itself. A parent takes the end of its last
// child, which is the first child that the loop meets.
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
