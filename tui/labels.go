package tui

import (
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/report"
)

// The labels of a profile window are entries that a person has marked as understood. Beside every entry stands its overlap with
// them: the cost of the stacks that it shares with any.
type labels struct {
	w     *profileWindow
	paths []callpath.Path // never changed in place: a session and work beside have them too

	of     *calltree.Tree      // that the overlaps are of
	shared *calltree.Tree      // the stacks that satisfy a label; nil until it is made
	costs  map[string]*big.Rat // by key of an entry
	busy   bool
}

// toggle labels an entry, or takes its label away.
func (l *labels) toggle(p callpath.Path) {
	n := len(l.paths)
	l.paths = slices.DeleteFunc(slices.Clone(l.paths), func(q callpath.Path) bool { return q.String() == p.String() })
	if len(l.paths) == n {
		l.paths = append(l.paths, p)
	}
	l.of = nil
}

// has tells whether an entry is labelled.
func (l *labels) has(e *refine.Entry) bool {
	return slices.ContainsFunc(l.paths, func(q callpath.Path) bool { return q.String() == e.Key() })
}

// want computes, beside, the overlaps that rows lack.
func (l *labels) want(rows []row) {
	s := l.w.session
	if len(l.paths) == 0 || l.busy {
		return
	}
	if l.of != s.Tree() {
		l.of, l.shared, l.costs = s.Tree(), nil, make(map[string]*big.Rat)
	}
	var keys []string
	var paths []callpath.Path
	for _, r := range rows {
		if _, there := l.costs[r.entry.Key()]; !there {
			keys = append(keys, r.entry.Key())
			paths = append(paths, r.entry.Path)
		}
	}
	if len(keys) == 0 {
		return
	}
	l.busy = true
	tree, shared, members, labelled := s.Tree(), l.shared, s.Membership(), l.paths
	type found struct {
		shared *calltree.Tree
		hits   []*big.Rat
	}
	work := func() found {
		if shared == nil {
			shared = refine.Labelled(tree, members, labelled)
		}
		return found{shared, callpath.Costs(shared, members, paths)}
	}
	asked := l.costs // another one where the labels or the tree have changed meanwhile
	beside(l.w.a, work, func(f found) {
		l.busy = false
		if l.of != tree {
			return
		}
		l.shared = f.shared
		for i, key := range keys {
			asked[key] = tree.Main().Cost(f.hits[i])
		}
	})
}

// text shows an entry's overlap with the labels.
func (l *labels) text(e *refine.Entry) string { return report.Overlap(l.costs[e.Key()]) }
