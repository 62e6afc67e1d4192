package calltree

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

const planeBits = 32

// A Builder collects stacks with hits into a tree. Node 0 is the root; further nodes come from Child.
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

// weights are the hits of one metric while the tree is built.
type weights struct {
	name, unit  string
	denominator *big.Rat
	whole       []int64              // by node: hits with denominator 1
	parts       map[partKey]int64    // hits with other denominators
	large       map[partKey]*big.Int // sums too large for whole and parts, also with denominator 1
	odd         map[int32][]*big.Rat // hits whose numerator or denominator needs more than 64 bits
}

type partKey struct {
	node int32
	den  int64
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
	b.metrics = append(b.metrics, &weights{name: name, unit: unit, parts: make(map[partKey]int64)})
	return len(b.metrics) - 1
}

// SetDenominator sets what costs in a metric are fractions of. Without it, they are fractions of the absolute value of
// the sum of all hits.
func (b *Builder) SetDenominator(metric int, d *big.Rat) {
	b.metrics[metric].denominator = new(big.Rat).Set(d)
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

// Add adds num/den hits of a metric to the stack that ends at node; den is at least 1.
func (b *Builder) Add(metric int, node int32, num, den int64) {
	w := b.metrics[metric]
	if den != 1 {
		k := partKey{node, den}
		if s, ok := addFits(w.parts[k], num); ok {
			w.parts[k] = s
		} else {
			w.addLarge(k, num)
		}
		return
	}
	if int(node) >= len(w.whole) {
		w.whole = append(w.whole, make([]int64, len(b.parent)-len(w.whole))...)
	}
	if s, ok := addFits(w.whole[node], num); ok {
		w.whole[node] = s
	} else {
		w.addLarge(partKey{node, 1}, num)
	}
}

// AddRat is Add for any exact number of hits.
func (b *Builder) AddRat(metric int, node int32, hits *big.Rat) {
	if hits.Num().IsInt64() && hits.Denom().IsInt64() {
		b.Add(metric, node, hits.Num().Int64(), hits.Denom().Int64())
		return
	}
	w := b.metrics[metric]
	if w.odd == nil {
		w.odd = make(map[int32][]*big.Rat)
	}
	w.odd[node] = append(w.odd[node], new(big.Rat).Set(hits))
}

func (w *weights) addLarge(k partKey, num int64) {
	if w.large == nil {
		w.large = make(map[partKey]*big.Int)
	}
	v := w.large[k]
	if v == nil {
		v = new(big.Int)
		w.large[k] = v
	}
	v.Add(v, big.NewInt(num))
}

func addFits(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
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

// metric converts all hits to one scale and lays them out in planes.
func (w *weights) metric(parent, at []int32) *Metric {
	m := &Metric{Name: w.name, Unit: w.unit, Denominator: w.denominator, scale: w.scale()}
	if !w.small(m, parent, at) {
		w.big(m, parent, at)
	}
	if m.Denominator == nil {
		m.Denominator = m.Cum(0)
		m.Denominator.Abs(m.Denominator)
	}
	return m
}

// scale returns the least common multiple of all denominators: with it, all hits are integers. It mostly stays small,
// because goroutines that share P processors and e rivals have few different denominators.
func (w *weights) scale() *big.Int {
	l := big.NewInt(1)
	seen := map[int64]bool{1: true}
	mult := func(d *big.Int) {
		g := new(big.Int).GCD(nil, nil, l, d)
		l.Mul(l, new(big.Int).Quo(d, g))
	}
	for k := range w.parts {
		if !seen[k.den] {
			seen[k.den] = true
			mult(big.NewInt(k.den))
		}
	}
	for k := range w.large {
		mult(big.NewInt(k.den))
	}
	for _, rs := range w.odd {
		for _, r := range rs {
			mult(r.Denom())
		}
	}
	return l
}

// small fills one plane if the scaled hits of all nodes together fit an int64, and reports whether they do; otherwise,
// big does the work. It sums absolute values, so that no sum over some of the nodes can overflow either.
func (w *weights) small(m *Metric, parent, at []int32) bool {
	if len(w.large) > 0 || len(w.odd) > 0 || !m.scale.IsInt64() {
		return false
	}
	scale := m.scale.Int64()
	own := make([]int64, len(parent))
	var total uint64 // of absolute values
	add := func(node int32, num, by int64) bool {
		hi, lo := bits.Mul64(magnitude(num), uint64(by))
		sum, carry := bits.Add64(total, lo, 0)
		if hi != 0 || carry != 0 || sum > math.MaxInt64 {
			return false
		}
		total = sum
		own[at[node]] += num * by
		return true
	}
	for i, num := range w.whole {
		if num != 0 && !add(int32(i), num, scale) {
			return false
		}
	}
	for k, num := range w.parts {
		if !add(k.node, num, scale/k.den) {
			return false
		}
	}
	m.planes = []Plane{{Own: own, Cum: cumulate(parent, own)}}
	return true
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// big fills as many planes as the largest node needs.
func (w *weights) big(m *Metric, parent, at []int32) {
	own := make([]*big.Int, len(parent))
	product := new(big.Int)
	add := func(node int32, num, by *big.Int) {
		v := own[at[node]]
		if v == nil {
			v = new(big.Int)
			own[at[node]] = v
		}
		v.Add(v, product.Mul(num, by))
	}
	// Denominators are few, and divisions are slow.
	factors := make(map[int64]*big.Int)
	factor := func(den int64) *big.Int {
		f := factors[den]
		if f == nil {
			f = new(big.Int).Quo(m.scale, big.NewInt(den))
			factors[den] = f
		}
		return f
	}
	hits := new(big.Int)
	for i, num := range w.whole {
		if num != 0 {
			add(int32(i), hits.SetInt64(num), m.scale)
		}
	}
	for k, num := range w.parts {
		add(k.node, hits.SetInt64(num), factor(k.den))
	}
	for k, num := range w.large {
		add(k.node, num, factor(k.den))
	}
	for node, rs := range w.odd {
		for _, r := range rs {
			add(node, r.Num(), new(big.Int).Quo(m.scale, r.Denom()))
		}
	}
	m.planes = digits(own, parent)
}

// digits writes numbers in base 2^32, one plane for each digit; the digits of a negative number are negative. For
// example, 2^32 + 5 is 5 in the first plane and 1 in the second, and -(2^32 + 5) is -5 and -1.
func digits(own []*big.Int, parent []int32) []Plane {
	width := 1
	for _, v := range own {
		if v != nil {
			width = max(width, (v.BitLen()+planeBits-1)/planeBits)
		}
	}
	planes := make([]Plane, width)
	for k := range planes {
		digit := make([]int64, len(own))
		for i, v := range own {
			if v != nil {
				digit[i] = digitAt(v, k)
			}
		}
		planes[k] = Plane{Own: digit, Cum: cumulate(parent, digit)}
	}
	return planes
}

// digitAt returns the k-th digit of v.
func digitAt(v *big.Int, k int) int64 {
	words := v.Bits()
	at := k * planeBits
	if at/bits.UintSize >= len(words) {
		return 0
	}
	return int64(words[at/bits.UintSize]>>(at%bits.UintSize)&(1<<planeBits-1)) * int64(v.Sign())
}
