package views

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

// Holders makes the view of the holders of locks that goroutines
// waited for, and of the holders' activity. Below the root, "*",
// are the locks; the function lock returns the name of the lock
// for a run that waits for it. Below a lock is the part below
// :MONITOR in the waiters' Thread Views. The hits belong to all
// waiters of all classes, and their sum is the denominator: the
// root's cost is 1. Chains of holders are shortened if the view
// would have more than half a million nodes; a warning of kind
// "cut-chain" then counts the places.
func Holders(r *sampledata.Recording, lock func(sampledata.Run) string, o Options) (*View, error) {
	v, _, err := limitedView(r, o, "view of lock holders", calltree.RootName, func(b *builder) {
		b.lock, b.maxNodes = lock, min(b.maxNodes, maxHolderNodes)
	})
	return v, err
}

// lockNode returns the node of the lock that a run waits for.
func (b *builder) lockNode(run sampledata.Run) int32 {
	name := b.lock(run)
	if calltree.KindOf(name) != calltree.Function {
		name = "?" + name
	}
	return b.tree.Child(0, b.tree.Symbols().Intern(name))
}
