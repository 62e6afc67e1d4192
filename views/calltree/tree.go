// Package calltree is the weighted calling-context tree that every
// analysis of cpprof consumes.
//
// A tree is made by a Builder and does not change afterwards.
// Its nodes are numbered in preorder, node 0 is the root, and a
// subtree is the range [n, Ends()[n]): a walk over the tree is a
// scan over arrays. The stacks "* a b" with 2 hits, "* a c" with
// 3 and "* d" with 1 are five nodes:
//
//	node     0  1  2  3  4
//	frame    *  a  b  c  d
//	parent  -1  0  1  1  0
//	end      5  4  3  4  5    what is below a is [1, 4)
//	own      0  0  2  3  1
//	cum      6  5  2  3  1    own, and of all nodes below
//
// A metric says what stacks weigh: "* a b" may weigh 2 of some
// unit, such as nanoseconds. If the weights were found by
// sampling, the metric also counts the hits of each stack: two
// samples that stand for 7 ms and 5 ms of one stack are a weight
// of 12 ms, and 2 hits. Costs are fractions of weights. Hits say
// how many observations a cost is based on.
//
// Weights and hits are exact. A metric stores them as integers
// over one scale: with 1/2 and 1/3 in a tree, the scale is 6,
// and the integers are 3 and 2. If their total does not fit one
// int64, they are split into several planes of int64, each with
// one digit in base 2^32 of every node's number. So every
// analysis adds int64 values, plane by plane, and Metric.Total
// combines the sums at the end. If all numbers are small, there
// is one plane, and no big number is needed.
package calltree

import (
	"fmt"
	"math/big"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/lists"
)

// A Tree is a weighted calling-context tree. Slices that its
// methods return are shared and must not be changed.
type Tree struct {
	syms    *Symbols
	parent  []int32 // parent[0] == -1, parent[n] < n
	fn      []Func
	end     []int32 // n < end[n] <= end[parent[n]]
	metrics []*Metric
}

// The name and the unit of a metric of hits.
const (
	hitsName = "hits"
	hitsUnit = "samples"
)

// CallsName is the name of the metric that counts how often a
// context was entered, if a tree has it.
const CallsName = "calls"

// A Metric is one weight of every node.
type Metric struct {
	Name string // "time", "alloc_space"
	Unit string // of the weights: "nanoseconds", "bytes"; "samples" if each hit weighs 1

	// Denominator is what a cost is a fraction of, in the unit.
	// It is never negative; if it is 0, every cost is 0.
	Denominator *big.Rat

	scale  *big.Int // the planes count in units of 1/scale
	planes []Plane
	hits   *Metric // nil if each hit weighs 1

	slices *Slices // nil if it is not known when stacks got their hits
}

// A Total is what some stacks weigh together, and how many hits they have.
type Total struct{ Weight, Hits *big.Rat }

// TotalOf returns what a sum has added up.
func TotalOf(s *exact.Sum) Total { return Total{Weight: s.Weight(), Hits: s.Hits()} }

// Plus returns the sum of two totals.
func (t Total) Plus(u Total) Total {
	return Total{new(big.Rat).Add(t.Weight, u.Weight), new(big.Rat).Add(t.Hits, u.Hits)}
}

// Minus returns the difference of two totals.
func (t Total) Minus(u Total) Total {
	return Total{new(big.Rat).Sub(t.Weight, u.Weight), new(big.Rat).Sub(t.Hits, u.Hits)}
}

// A Plane is one digit (in base 2^32, the least significant
// first) of the scaled numbers of every node: of the stack that
// ends at the node (Own), and of all stacks that run through it
// (Cum). Sums over any set of nodes fit an int64: a digit has 32
// bits, and there are fewer than 2^31 nodes. So a Cum may exceed
// one digit: no carry moves to the next plane until Join adds up
// the planes.
type Plane struct {
	Own, Cum []int64
}

// Len returns the number of nodes, at least 1.
func (t *Tree) Len() int { return len(t.parent) }

// Symbols returns the table of the tree's frame names.
func (t *Tree) Symbols() *Symbols { return t.syms }

// Parents returns each node's parent; -1 for node 0.
func (t *Tree) Parents() []int32 { return t.parent }

// Funcs returns each node's frame.
func (t *Tree) Funcs() []Func { return t.fn }

// Ends returns for each node the end of its subtree: the first
// node after it that is not below it.
func (t *Tree) Ends() []int32 { return t.end }

// Root returns the name of the root's frame.
func (t *Tree) Root() string { return t.syms.Name(t.fn[0]) }

// Named returns the tree's frame of the given name, or None. "*"
// is the root, whatever its own name is.
func (t *Tree) Named(name string) Func {
	if name == RootName {
		return t.fn[0]
	}
	return t.syms.Lookup(name)
}

// Metrics returns the tree's metrics, at least one.
func (t *Tree) Metrics() []*Metric { return t.metrics }

// Main returns the first metric: refinements and costs use it.
func (t *Tree) Main() *Metric { return t.metrics[0] }

// Frames returns the stack of a node, root first.
func (t *Tree) Frames(n int32) []string {
	var depth int
	for m := n; m >= 0; m = t.parent[m] {
		depth++
	}
	frames := make([]string, depth)
	for m := n; m >= 0; m = t.parent[m] {
		depth--
		frames[depth] = t.syms.Name(t.fn[m])
	}
	return frames
}

// BeginsPart reports whether f begins another goroutine's part
// of the stack if it is below the root: class frames do (design
// "Stack").
func (t *Tree) BeginsPart(f Func) bool { return t.syms.kinds[f] == Class }

// Hits returns the metric that counts the hits of the stacks.
// Its denominator is the number of hits in the denominator of m.
// Hits returns m itself if each hit weighs 1, as in the profiles
// of other tools, which have weights only.
func (m *Metric) Hits() *Metric {
	if m.hits == nil {
		return m
	}
	return m.hits
}

// Slices returns when the stacks got their hits, or nil if that
// is not known.
func (m *Metric) Slices() *Slices { return m.slices }

// SetSlices sets when the stacks got their hits.
func (m *Metric) SetSlices(s *Slices) { m.slices = s }

// Planes returns the digits of the metric's weights.
func (m *Metric) Planes() []Plane { return m.planes }

// Digits returns the digits of the weights. If the hits are
// counted separately, their digits follow. An analysis sums all
// digits, and calls Total with the sums.
func (m *Metric) Digits() []Plane {
	if m.hits == nil {
		return m.planes
	}
	return append(m.planes[:len(m.planes):len(m.planes)], m.hits.planes...)
}

// Total returns the weight and the hits for sums over the planes
// of Digits: sums[i] is from plane i.
func (m *Metric) Total(sums ...int64) Total {
	w := m.Weight(sums[:len(m.planes)]...)
	if m.hits == nil {
		return Total{w, w}
	}
	return Total{w, m.hits.Weight(sums[len(m.planes):]...)}
}

// Through returns the weight and the hits of all stacks that run
// through node n.
func (m *Metric) Through(n int32) Total { return Total{m.Cum(n), m.Hits().Cum(n)} }

// Ending returns the weight and the hits of the stack that ends at node n.
func (m *Metric) Ending(n int32) Total { return Total{m.Own(n), m.Hits().Own(n)} }

// Integral reports whether the metric has one plane, of whole numbers.
func (m *Metric) Integral() bool {
	return len(m.planes) == 1 && m.scale.IsInt64() && m.scale.Int64() == 1
}

// Weight returns the exact weight for sums over the planes:
// sums[i] is from plane i of Planes.
func (m *Metric) Weight(sums ...int64) *big.Rat {
	if len(sums) == 1 && m.scale.IsInt64() {
		return big.NewRat(sums[0], m.scale.Int64())
	}
	return new(big.Rat).SetFrac(Join(sums), m.scale)
}

// Join returns the number with the given digits (see Plane). As
// they may be sums, digits may have more than 32 bits, and any
// sign: for [5, 1], it returns 5 + 1*2^32.
func Join(sums []int64) *big.Int {
	v := new(big.Int)
	for i := len(sums) - 1; i >= 0; i-- {
		v.Lsh(v, planeBits)
		v.Add(v, big.NewInt(sums[i]))
	}
	return v
}

// Own returns the exact weight of the stack that ends at node n.
func (m *Metric) Own(n int32) *big.Rat {
	return m.at(n, func(p Plane) []int64 { return p.Own })
}

// Cum returns the exact weight of all stacks that run through node n.
func (m *Metric) Cum(n int32) *big.Rat {
	return m.at(n, func(p Plane) []int64 { return p.Cum })
}

func (m *Metric) at(n int32, of func(Plane) []int64) *big.Rat {
	sums := lists.Each(m.planes, func(p Plane) int64 { return of(p)[n] })
	return m.Weight(sums...)
}

// Cost returns a weight as a fraction of the metric's denominator.
func (m *Metric) Cost(weight *big.Rat) *big.Rat { return exact.Quo(weight, m.Denominator) }

// Check verifies every property of a tree that this package documents.
func (t *Tree) Check() error {
	n := len(t.parent)
	if n == 0 {
		return fmt.Errorf("call tree: no root")
	}
	if len(t.fn) != n || len(t.end) != n {
		return fmt.Errorf("call tree: %d parents, %d frames, %d ends", n, len(t.fn), len(t.end))
	}
	if t.parent[0] != -1 || int(t.end[0]) != n {
		return fmt.Errorf("call tree: root has parent %d, end %d of %d", t.parent[0], t.end[0], n)
	}
	for i := range t.parent {
		if f := t.fn[i]; f < 0 || int(f) >= t.syms.Len() {
			return fmt.Errorf("call tree: node %d: frame %d of %d", i, f, t.syms.Len())
		}
		if i == 0 {
			continue
		}
		p := t.parent[i]
		if p < 0 || int(p) >= i {
			return fmt.Errorf("call tree: node %d: parent %d is not before it", i, p)
		}
		if int(t.end[i]) <= i || t.end[i] > t.end[p] {
			return fmt.Errorf("call tree: node %d: subtree ends at %d, its parent's at %d",
				i, t.end[i], t.end[p])
		}
		// In preorder a node is its parent's first child, or
		// follows the end of a sibling.
		if int(p) != i-1 && !t.followsSibling(int32(i), p) {
			return fmt.Errorf("call tree: node %d: not in preorder below %d", i, p)
		}
	}
	if len(t.metrics) == 0 {
		return fmt.Errorf("call tree: no metric")
	}
	for _, m := range t.metrics {
		if err := t.checkMetric(m); err != nil {
			return fmt.Errorf("call tree: metric %q: %w", m.Name, err)
		}
	}
	return nil
}

// followsSibling reports whether i-1 is the last node of the
// subtree of a sibling of i below p.
func (t *Tree) followsSibling(i, p int32) bool {
	m := i - 1
	for m > p && t.parent[m] != p {
		m = t.parent[m]
	}
	return m > p && t.end[m] == i
}

func (t *Tree) checkMetric(m *Metric) error {
	if m.scale == nil || m.scale.Sign() <= 0 || m.Denominator == nil ||
		m.Denominator.Sign() < 0 || len(m.planes) == 0 {
		return fmt.Errorf("scale %v, denominator %v, %d planes", m.scale, m.Denominator,
			len(m.planes))
	}
	for k, p := range m.planes {
		if len(p.Own) != t.Len() || len(p.Cum) != t.Len() {
			return fmt.Errorf("plane %d: %d own, %d cum for %d nodes", k, len(p.Own),
				len(p.Cum), t.Len())
		}
		cum := cumulate(t.parent, p.Own)
		for i := range cum {
			if cum[i] != p.Cum[i] {
				return fmt.Errorf("plane %d: node %d: cum %d, but own and children sum to %d",
					k, i, p.Cum[i], cum[i])
			}
		}
	}
	if m.hits != nil {
		if m.hits.hits != nil {
			return fmt.Errorf("hits of hits")
		}
		return t.checkMetric(m.hits)
	}
	return nil
}

// cumulate adds own weights up towards the root.
func cumulate(parent []int32, own []int64) []int64 {
	cum := make([]int64, len(own))
	copy(cum, own)
	for i := len(cum) - 1; i > 0; i-- {
		cum[parent[i]] += cum[i]
	}
	return cum
}
