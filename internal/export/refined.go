package export

import (
	"fmt"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views/calltree"
)

// refinedTree returns the entries of a session as a call tree.
// Each entry is a stack. Its frames are the labels of the
// entries above it. The stack has the weight and the hits of the
// entry's stacks that no entry below has, in each metric of the
// session's tree. refinedTree fails if stacks count for several
// entries beside each other.
func refinedTree(session *refine.Session) (*calltree.Tree, error) {
	of := session.Tree()
	main := of.Main()
	b := calltree.NewBuilder(new(calltree.Symbols), of.Root(), main.Name, main.Unit)
	for _, m := range of.Metrics()[1:] {
		b.AddMetric(m.Name, m.Unit)
	}
	a := assigner{Session: session, to: b, at: make([]int32, of.Len())}
	if err := a.assign(session.Root(), 0); err != nil {
		return nil, err
	}
	for i, m := range of.Metrics() {
		b.SetDenominator(i, m.Denominator)
		counted := m.Hits() != m
		if counted {
			b.CountHits(i, m.Hits().Denominator)
		}
		for n, at := range a.at {
			switch ending := m.Ending(int32(n)); {
			case ending.Weight.Sign() == 0 && ending.Hits.Sign() == 0:
			case counted:
				b.AddTotal(i, at, ending)
			default:
				b.AddRat(i, at, ending.Weight)
			}
		}
	}
	return b.Tree()
}

// An assigner finds the entry for which each stack counts.
type assigner struct {
	*refine.Session
	to *calltree.Builder
	at []int32 // by node of the session's tree: the node of to for the stacks that end there
}

// assign distributes the stacks of an entry with a known node
// among the entries below it. Aspects come last, because a
// refinement shows them beside their frames. An aspect is left
// out if other entries have all its stacks.
func (a *assigner) assign(e *refine.Entry, node int32) error {
	for _, aspects := range []bool{false, true} {
		for _, c := range e.Children {
			if last, _ := c.Path.Last(); last.Aspect() != aspects {
				continue
			}
			free, all := a.free(c, node)
			if aspects && len(free) == 0 {
				continue
			}
			if len(free) != all {
				return fmt.Errorf("%s: stacks of %s also count for another entry beside it, which a tree can't show: export it to csv, or refine another path", e.Key(), c.Label())
			}
			below := a.to.Child(node, a.to.Symbols().Intern(c.Label()))
			for _, n := range free {
				a.at[n] = below
			}
			if err := a.assign(c, below); err != nil {
				return err
			}
		}
	}
	return nil
}

// free returns the ends of an entry's stacks that count for a
// node and that no entry beside it has. It also returns the
// number of all ends.
func (a *assigner) free(e *refine.Entry, node int32) (free []int32, all int) {
	t := a.Tree()
	callpath.Satisfying(t, a.Membership(), e.Path, func(top int32) {
		for n := top; n < t.Ends()[top]; n++ {
			all++
			if a.at[n] == node {
				free = append(free, n)
			}
		}
	})
	return free, all
}
