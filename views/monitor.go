package views

import (
	"math/big"

	"github.com/cpprof/cpprof/views/calltree"
)

// LockTime returns the time and the hits with which the
// goroutines of a Thread View waited for locks. It also returns
// the part with a known holder of the lock. Both are 0 for other
// trees.
func LockTime(t *calltree.Tree) (waited, attributed calltree.Total) {
	none := calltree.Total{Weight: new(big.Rat), Hits: new(big.Rat)}
	waited, attributed = none, none
	monitor := t.Named(Monitor.String())
	unknown, free := t.Named(children[unknownHolder].name), t.Named(children[freeLock].name)
	if monitor == calltree.None {
		return waited, attributed
	}
	fn, ends, m := t.Funcs(), t.Ends(), t.Main()
	for n := int32(0); int(n) < t.Len(); n++ {
		if fn[n] != monitor {
			continue
		}
		waited, attributed = waited.Plus(m.Through(n)), attributed.Plus(m.Through(n))
		for c := n + 1; c < ends[n]; c = ends[c] {
			if fn[c] == unknown || fn[c] == free {
				attributed = attributed.Minus(m.Through(c))
			}
		}
		n = ends[n] - 1 // the nodes below are holders
	}
	return waited, attributed
}
