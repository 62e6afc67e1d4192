package refine

import (
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// Prune returns the tree of the stacks for which e is true.
// Denominators stay: costs remain fractions of the whole.
func Prune(t *calltree.Tree, m *calltree.Membership, e callpath.Expr) *calltree.Tree {
	ms := lists.Each(e.Paths(), func(p callpath.Path) *callpath.Matcher {
		return callpath.Compile(t, m, p, callpath.Nothing)
	})
	return t.Filter(satisfying(t, ms, e))
}

// satisfying returns for every node whether e is true for its
// stack. It stores the states of the paths by depth, for the
// nodes above. With the paths P and Q, states[2*d] and
// states[2*d+1] are their states at depth d. A return to depth d
// overwrites the states of deeper nodes. A satisfied path
// remains satisfied below, so e is evaluated only if a path
// becomes satisfied.
func satisfying(t *calltree.Tree, ms []*callpath.Matcher, e callpath.Expr) []bool {
	fns, parents, ends := t.Funcs(), t.Parents(), t.Ends()
	satisfied := make([]bool, len(ms))
	states := make([]callpath.State, len(ms))
	for i, a := range ms {
		states[i] = a.Start()
		satisfied[i] = a.Satisfied(states[i])
	}
	kept := make([]bool, t.Len())
	kept[0] = e.Eval(satisfied)
	within := []int32{ends[0]} // where the subtrees end that have the node, outermost first
	for n := int32(1); int(n) < len(fns); {
		for within[len(within)-1] <= n {
			within = within[:len(within)-1]
		}
		from := len(within) * len(ms)
		within = append(within, ends[n])
		states = slices.Grow(states[:from], len(ms))[:from+len(ms)]
		above, here := states[from-len(ms):from], states[from:]
		changed, done := false, true
		for i, a := range ms {
			here[i] = a.Next(above[i], fns[n])
			satisfied[i] = a.Satisfied(here[i])
			changed = changed || satisfied[i] != a.Satisfied(above[i])
			done = done && (satisfied[i] || here[i] == callpath.Dead)
		}
		kept[n] = kept[parents[n]]
		if changed {
			kept[n] = e.Eval(satisfied)
		}
		n++
		if done { // nothing can change below
			for end := ends[n-1]; n < end; n++ {
				kept[n] = kept[n-1]
			}
		}
	}
	return kept
}
