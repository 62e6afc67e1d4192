package callpath

import (
	"math/big"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// Own returns the weight of the stacks that satisfy p with the
// last element of p as their innermost function: below it is
// only its typed time. For example, the stack
// "* f g :MONITOR go:h i :RUN" is own time of g. In the
// holder's part of the stack, it is own time of i. A typed time has no own time.
func Own(t *calltree.Tree, m *calltree.Membership, p Path) *big.Rat {
	metric := t.Main()
	planes := metric.Planes()
	sums := make([]int64, len(planes))
	next := Immediately
	if p.Context() {
		next = Next
	}
	a := Compile(t, m, p, next)
	parents, fns, ends := t.Parents(), t.Funcs(), t.Ends()
	state := States(t)
	defer state.Release()
	at := state.At
	at[0] = a.Start()
	for n := int32(0); int(n) < len(fns); {
		if n > 0 {
			at[n] = a.Next(at[parents[n]], fns[n])
		}
		if at[n] == Dead {
			n = ends[n]
			continue
		}
		if a.Open(at[n]) {
			t.Body(n, sums)
		}
		n++
	}
	return metric.Weight(sums...)
}

// Owns returns the Own of every path. It uses all processors.
func Owns(t *calltree.Tree, m *calltree.Membership, paths []Path) []*big.Rat {
	return lists.EachAtOnce(paths, func(p Path) *big.Rat { return Own(t, m, p) })
}
