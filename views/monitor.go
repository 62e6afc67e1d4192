package views

import (
	"math/big"

	"github.com/cpprof/cpprof/calltree"
)

// LockTime returns the hits with which the goroutines of a Thread View waited for locks, and those of them whose lock
// has a known holder. Both are 0 for other trees.
func LockTime(t *calltree.Tree) (hits, attributed *big.Rat) {
	hits, attributed = new(big.Rat), new(big.Rat)
	monitor, unknown := t.Named(Monitor.String()), t.Named(children[unknownHolder].name)
	if monitor == calltree.None {
		return hits, attributed
	}
	fn, ends, m := t.Funcs(), t.Ends(), t.Main()
	for n := int32(0); int(n) < t.Len(); n++ {
		if fn[n] != monitor {
			continue
		}
		hits.Add(hits, m.Cum(n))
		attributed.Add(attributed, m.Cum(n))
		for c := n + 1; c < ends[n]; c = ends[c] {
			if fn[c] == unknown {
				attributed.Sub(attributed, m.Cum(c))
			}
		}
		n = ends[n] - 1 // the nodes below are holders
	}
	return hits, attributed
}
