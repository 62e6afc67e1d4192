package refine

import (
	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/views/calltree"
)

// Down returns the downward refinement of p: all paths P x, P
// ..x, or P >x with a weight that is not zero. They are sorted
// by decreasing weight, then by name. After an aspect, the
// immediate refinement lists its members. The calls in place of
// the root are its immediate calls, because there is one root.
func Down(t *calltree.Tree, m *calltree.Membership, p callpath.Path, spec callpath.Spec) []Result {
	if spec == callpath.InPlace && isRoot(t, p) {
		spec = callpath.Immediate
	}
	y := newTally(t, m)
	if last, _ := p.Last(); spec == callpath.Immediate && !last.Aspect() {
		y.siblings = &siblings{shared: make([]bool, y.funcs)}
	}
	y.down(callpath.Compile(t, m, p, continuations[spec]), spec)
	return y.results(func(e callpath.Element) callpath.Path { return p.Then(e, spec) })
}

// isRoot reports whether a path is the root alone, and the root
// does not occur again.
func isRoot(t *calltree.Tree, p callpath.Path) bool {
	return len(p.Elements) == 1 && p.Elements[0] == callpath.Frame(t.Root()) &&
		calltree.KindOf(t.Root()) != calltree.Function
}

// continuations are the continuations of a path that lead to an
// element, by the spec between.
var continuations = [...]callpath.Continuation{
	callpath.Immediate: callpath.Immediately, callpath.Extended: callpath.Eventually,
	callpath.InPlace: callpath.Next,
}

func (y *tally) down(a *callpath.Matcher, spec callpath.Spec) {
	fns, parents := y.tree.Funcs(), y.tree.Parents()
	states := callpath.States(y.tree)
	defer states.Release()
	at := states.At
	at[0] = a.Start()
	member := a.Member()
	if member && a.Open(at[0]) {
		y.count(int32(fns[0]), 0)
	}
	next := func(n int32) int32 {
		if at[n] == callpath.Dead {
			return y.ends[n]
		}
		return n + 1
	}
	for n := next(0); int(n) < len(fns); n = next(n) {
		f, above := fns[n], at[parents[n]]
		at[n] = a.Next(above, f)
		switch {
		case member:
			if a.Open(at[n]) {
				y.count(int32(f), n)
			}
		case a.Open(above) && !(spec == callpath.Extended && a.Begins(f)):
			y.countFrame(f, n)
		}
	}
}
