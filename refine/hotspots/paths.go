package hotspots

import (
	"cmp"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Test returns the verdict on the hypothesis that some stacks
// of a call tree are a bottleneck.
type Test func(m *calltree.Metric, s Stacks) Verdict

// Stacks are some stacks of a tree: those that end at nodes of
// the ranges [from, to).
type Stacks struct {
	calltree.Total
	Ranges [][2]int32
}

// Paths is the result of a search over the call paths of a tree.
type Paths struct {
	// TopDown are the nodes whose call path from the root, by
	// immediate calls, is a bottleneck, in preorder.
	TopDown []int32

	// Frontier are the callees of bottlenecks that need more evidence.
	Frontier []int32

	// Deep are the deep starters: functions that are bottlenecks
	// wherever they are called, though no path to them is. The
	// highest cost comes first.
	Deep []Starter
}

// A Starter is a function, with all stacks that have it.
type Starter struct {
	Func calltree.Func
	Stacks
}

// FindPaths searches the call paths of a tree, in the goroutine
// of the root. It is JBolt's algorithm (figure 4, with the deep
// starters of section 4). JBolt had to put instruments into the
// callees of a bottleneck, and to wait for their results. Here,
// every call is in the samples already, so that one walk
// decides.
func FindPaths(t *calltree.Tree, test Test) Paths {
	m := t.Main()
	var found Paths
	reached := make(map[calltree.Func]bool) // the last functions of bottlenecks
	focus := make(map[int32]bool)           // the root, and bottlenecks
	focus[0] = true
	for n := int32(1); int(n) < t.Len(); n++ {
		parent := t.Parents()[n]
		if !focus[parent] || t.BeginsPart(t.Funcs()[n]) && parent != 0 {
			continue
		}
		switch test(m, Stacks{m.Through(n), [][2]int32{{n, t.Ends()[n]}}}) {
		case Yes:
			focus[n], reached[t.Funcs()[n]] = true, true
			found.TopDown = append(found.TopDown, n)
		case Maybe:
			found.Frontier = append(found.Frontier, n)
		}
	}
	for _, s := range inclusive(t) {
		if !reached[s.Func] && test(m, s.Stacks) == Yes {
			found.Deep = append(found.Deep, s)
		}
	}
	return found
}

// inclusive returns the totals of the frames below the root, in
// the root's goroutine. Each stack counts once for a frame,
// however often the frame recurs in it. The highest weight comes
// first.
func inclusive(t *calltree.Tree) []Starter {
	digits := t.Main().Digits()
	sums := make(map[calltree.Func][]int64)
	ranges := make(map[calltree.Func][][2]int32) // of the outermost calls
	// the end of the outermost call that contains the current node
	open := make(map[calltree.Func]int32)
	for n := int32(1); int(n) < t.Len(); n++ {
		f := t.Funcs()[n]
		if t.BeginsPart(f) && t.Parents()[n] != 0 {
			n = t.Ends()[n] - 1
			continue
		}
		if open[f] > n {
			continue
		}
		open[f] = t.Ends()[n]
		ranges[f] = append(ranges[f], [2]int32{n, t.Ends()[n]})
		sum := lists.Made(sums, f, func() []int64 { return make([]int64, len(digits)) })
		for i, d := range digits {
			sum[i] += d.Cum[n]
		}
	}
	var all []Starter
	for f, s := range sums {
		all = append(all, Starter{f, Stacks{t.Main().Total(s...), ranges[f]}})
	}
	slices.SortFunc(all, func(a, b Starter) int {
		return cmp.Or(b.Weight.Cmp(a.Weight),
			cmp.Compare(t.Symbols().Name(a.Func), t.Symbols().Name(b.Func)))
	})
	return all
}
