package views

import (
	"fmt"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/sampledata"
)

// Holders makes the view of who held the locks that goroutines waited for, and what the holders were doing. Below the
// root, "*", stand the locks, each under the name that lock gives for a run of a goroutine that waits for it; below a
// lock what stands below :MONITOR in the Thread Views of those who wait. Hits are theirs, of all classes, and the
// denominator is the sum of these, so that the root's cost is 1.
func Holders(r *sampledata.Recording, lock func(sampledata.Run) string, o Options) (*View, error) {
	from, to, err := o.samples(r)
	if err != nil {
		return nil, fmt.Errorf("view of lock holders: %w", err)
	}
	b := newBuilder(newScene(r, o), calltree.RootName)
	b.lock = lock
	v, err := b.view(from, to)
	if err != nil {
		return nil, fmt.Errorf("view of lock holders: %w", err)
	}
	return v, nil
}

// lockNode is the node of the lock that a run waits for.
func (b *builder) lockNode(run sampledata.Run) int32 {
	name := b.lock(run)
	if calltree.KindOf(name) != calltree.Function {
		name = "?" + name
	}
	return b.tree.Child(0, b.tree.Symbols().Intern(name))
}
