package metrics

import (
	"slices"
	"sync"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// pathSeries are the numbers of goroutines over time of all
// nodes of a call tree.
type pathSeries struct {
	p     *views.Presence
	stays lists.Groups[int32] // numbers of stays, by node
	cum   []int64             // by node: hits of all stays in its subtree
	once  []int32             // by function: the outermost node of the function, if there is one only; else -1
}

func newPathSeries(p *views.Presence) *pathSeries {
	nodes := lists.Each(p.Stays, func(s views.Stay) int32 { return s.Node })
	s := &pathSeries{p: p, stays: lists.GroupBy(nodes, p.Tree.Len()),
		cum: p.Tree.Main().Planes()[0].Cum}
	s.findOnce()
	return s
}

// findOnce finds the functions that have one outermost node.
func (s *pathSeries) findOnce() {
	t := s.p.Tree
	const none, several = -1, -2
	s.once = slices.Repeat([]int32{none}, t.Symbols().Len())
	until := make([]int32, len(s.once)) // the end of the last outermost node's subtree
	for n, f := range t.Funcs() {
		switch {
		case int32(n) < until[f]:
			continue
		case s.once[f] == none:
			s.once[f] = int32(n)
		default:
			s.once[f] = several
		}
		until[f] = t.Ends()[n]
	}
}

// steps returns the steps of a node's series, sorted.
func (s *pathSeries) steps(n int32, list []step, scratch []int32) []step {
	list = list[:0]
	for _, i := range s.stays.Between(n, s.p.Tree.Ends()[n]) {
		stay := &s.p.Stays[i]
		list = append(list, step{stay.First, 1}, step{stay.Last + 1, -1})
	}
	return sortSteps(list, scratch)
}

// column returns a node's series.
func (s *pathSeries) column(n int32, samples int) Column {
	c := newCounts(samples)
	for _, i := range s.stays.Between(n, s.p.Tree.Ends()[n]) {
		c.add(s.p.Stays[i].First, s.p.Stays[i].Last)
	}
	return c.column()
}

// candidates returns the nodes with enough hits whose series
// differ from their caller's.
func (s *pathSeries) candidates(least float64) []int32 {
	var nodes []int32
	parents := s.p.Tree.Parents()
	for n := int32(1); int(n) < s.p.Tree.Len(); n++ {
		if float64(s.cum[n]) >= least && s.cum[n] != s.cum[parents[n]] {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// correlate correlates the series of nodes with a target. It
// uses all processors.
func (s *pathSeries) correlate(nodes []int32, t *target) []quick {
	type work struct {
		steps   []step
		scratch []int32
	}
	pool := sync.Pool{New: func() any { return &work{scratch: make([]int32, len(t.y)+1)} }}
	return lists.EachAtOnce(nodes, func(n int32) quick {
		w := pool.Get().(*work)
		defer pool.Put(w)
		w.steps = s.steps(n, w.steps, w.scratch)
		return t.correlate(w.steps)
	})
}

// shown returns the node that stands for all those below n with
// the same series: the innermost function that is not machinery
// of the runtime and standard library, else n.
func (s *pathSeries) shown(n int32) int32 {
	t := s.p.Tree
	best := n
	for at := n; ; {
		if name := t.Symbols().Name(t.Funcs()[at]); calltree.KindOf(name) == calltree.Function &&
			!views.Machinery(name) {
			best = at
		}
		at++ // the first child, if there is one
		if int(at) >= t.Len() || at >= t.Ends()[n] || s.cum[at] != s.cum[n] {
			return best
		}
	}
}

// path returns the call path of a node: from a function on that
// the node's caller has to itself if there is one, else from the
// root on.
func (s *pathSeries) path(n int32) callpath.Path {
	t := s.p.Tree
	element := func(n int32) callpath.Element { return callpath.Frame(t.Symbols().Name(t.Funcs()[n])) }
	path := callpath.Root(t)
	var below []int32
	for at := n; at > 0; at = t.Parents()[at] {
		if f := t.Funcs()[at]; s.once[f] == at && t.Symbols().Kind(f) == calltree.Function {
			path = path.Then(element(at), callpath.Extended)
			break
		}
		below = append(below, at)
	}
	for _, at := range slices.Backward(below) {
		path = path.Then(element(at), callpath.InPlace)
	}
	return path
}
