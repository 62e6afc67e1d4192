package refine

import (
	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/calltree"
)

// Down returns the downward refinement of p: all paths P x, or if extended all P ..x, whose weight is not zero, by
// decreasing weight, then by name. After an aspect, the immediate refinement lists its members.
func Down(t *calltree.Tree, m *calltree.Membership, p callpath.Path, extended bool) []Result {
	next := callpath.Immediately
	if extended {
		next = callpath.Eventually
	}
	y := newTally(t, m)
	y.down(callpath.Compile(t, m, p, next), extended)
	return y.results(func(e callpath.Element) callpath.Path { return p.Then(e, extended) })
}

func (y *tally) down(a *callpath.Matcher, extended bool) {
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
		case a.Open(above) && !(extended && a.Begins(f)):
			y.countFrame(f, n)
		}
	}
}
