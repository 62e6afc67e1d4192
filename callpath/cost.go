package callpath

import (
	"sync"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// Total returns the weight and the hits of the stacks that
// satisfy p, in the tree's main metric. Each stack counts once.
func Total(t *calltree.Tree, m *calltree.Membership, p Path) calltree.Total {
	metric := t.Main()
	planes := metric.Digits()
	sums := make([]int64, len(planes))
	Satisfying(t, m, p, func(n int32) {
		for k := range planes {
			sums[k] += planes[k].Cum[n]
		}
	})
	return metric.Total(sums...)
}

// Totals returns the Total of every path. It uses all processors.
func Totals(t *calltree.Tree, m *calltree.Membership, paths []Path) []calltree.Total {
	return lists.EachAtOnce(paths, func(p Path) calltree.Total { return Total(t, m, p) })
}

// Satisfying calls each for every node at which p is first
// satisfied, in preorder. The stacks that satisfy p are those
// that run through these nodes.
func Satisfying(t *calltree.Tree, m *calltree.Membership, p Path, each func(node int32)) {
	a := Compile(t, m, p, Nothing)
	parents, fns, ends := t.Parents(), t.Funcs(), t.Ends()
	state := States(t)
	defer state.Release()
	at := state.At
	at[0] = a.Start()
	for n := int32(0); int(n) < len(fns); {
		s := at[0]
		if n > 0 {
			s = a.Next(at[parents[n]], fns[n])
			at[n] = s
		}
		switch {
		case a.Satisfied(s):
			each(n)
			n = ends[n]
		case s == Dead:
			n = ends[n]
		default:
			n++
		}
	}
}

// NodeStates is scratch space for a walk: a state for every node
// of a tree, not initialized.
type NodeStates struct{ At []State }

var statePool = sync.Pool{New: func() any { return new(NodeStates) }}

// States returns scratch space for a tree.
func States(t *calltree.Tree) *NodeStates {
	s := statePool.Get().(*NodeStates)
	if cap(s.At) < t.Len() {
		s.At = make([]State, t.Len())
	}
	s.At = s.At[:t.Len()]
	return s
}

// Release returns the space to the pool; it must not be used afterwards.
func (s *NodeStates) Release() { statePool.Put(s) }
