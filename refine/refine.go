// Package refine computes the refinement profiles of call paths
// (CPPROFJ, section 2) over a call tree. Each profile takes one
// pass. The package keeps the profile of a view while a user
// refines it.
//
//   - Down is the immediate or extended downward refinement, Up the upward
//     split, Prune the tree of the stacks for which an expression is true.
//   - A Session is the tree of profile entries of one view. Its steps can be
//     undone, redone and replayed.
package refine

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Result is one path of a refinement.
type Result struct {
	Name           string // the frame or aspect in which the results differ
	Path           callpath.Path
	calltree.Total // in the tree's main metric; the weight is never zero

	// Shared reports that a frame of an immediate refinement has
	// stacks that also count for another one.
	Shared bool
}

// A tally sums weights and hits for everything that a refinement
// can list: every Func, then every aspect.
type tally struct {
	tree   *calltree.Tree
	m      *calltree.Membership
	ends   []int32
	planes []calltree.Plane // of the weights, then of the hits
	funcs  int32
	sums   [][]int64 // by plane, then by x
	until  []int32   // by x: the end of the subtree that was counted last

	siblings *siblings // nil unless the results say what they share
}

func newTally(t *calltree.Tree, m *calltree.Membership) *tally {
	y := &tally{tree: t, m: m, ends: t.Ends(), planes: t.Main().Digits(),
		funcs: int32(t.Symbols().Len())}
	n := int(y.funcs) + len(m.Names())
	y.until = make([]int32, n)
	for range y.planes {
		y.sums = append(y.sums, make([]int64, n))
	}
	return y
}

// count adds the weight and the hits of the stacks through a
// node to x. It skips nodes in a subtree that was counted for x.
// Nodes must come in preorder. In the tree "* f g f", x = f
// counts the stacks through the first f, and until[f] is the end
// of its subtree. The second f is inside, and its stacks are
// already counted.
func (y *tally) count(x, node int32) {
	if y.until[x] > node {
		return
	}
	y.until[x] = y.ends[node]
	some := false
	for k := range y.planes {
		y.sums[k][x] += y.planes[k].Cum[node]
		some = some || y.planes[k].Cum[node] != 0
	}
	if y.siblings != nil && x < y.funcs && some {
		y.siblings.add(x, node, y.ends[node])
	}
}

// countFrame counts the node for a frame and for every aspect
// that contains the frame.
func (y *tally) countFrame(f calltree.Func, node int32) {
	y.count(int32(f), node)
	for _, set := range y.m.Of(f) {
		y.count(y.funcs+set, node)
	}
}

// element returns the element of a path for x.
func (y *tally) element(x int32) callpath.Element {
	if x >= y.funcs {
		return callpath.Element{Name: y.m.Names()[x-y.funcs]}
	}
	return callpath.Frame(y.tree.Symbols().Name(calltree.Func(x)))
}

// results returns the sums, by decreasing weight and then by
// name; path makes the path of an element.
func (y *tally) results(path func(callpath.Element) callpath.Path) []Result {
	var listed []sum
	weights := len(y.tree.Main().Planes())
	for x := range y.until {
		s := sum{element: y.element(int32(x)), small: y.sums[0][x]}
		if weights > 1 {
			s.large = calltree.Join(y.digits(x)[:weights])
			s.small = int64(s.large.Sign())
		}
		if s.small != 0 {
			s.x = x
			listed = append(listed, s)
		}
	}
	slices.SortFunc(listed, sum.compare)
	results := make([]Result, len(listed))
	for i, s := range listed {
		results[i] = Result{Name: s.element.Name, Path: path(s.element),
			Total: y.tree.Main().Total(y.digits(s.x)...)}
		results[i].Shared = y.siblings != nil && s.x < int(y.funcs) && y.siblings.shared[s.x]
	}
	return results
}

// digits returns the sums for x, by plane.
func (y *tally) digits(x int) []int64 {
	return lists.Each(y.sums, func(sum []int64) int64 { return sum[x] })
}

// A sum is a scaled weight: large if the tree has several
// planes, else small.
type sum struct {
	x       int
	element callpath.Element
	small   int64
	large   *big.Int
}

func (s sum) compare(t sum) int {
	c := cmp.Compare(t.small, s.small)
	if s.large != nil {
		c = t.large.Cmp(s.large)
	}
	if c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(s.element.Name, t.element.Name), cmp.Compare(s.x, t.x))
}
