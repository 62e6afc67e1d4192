package tui

import (
	"math/big"
	"slices"
	"sync"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views/calltree"
)

// The labels of a profile window are entries that the user has marked as
// understood. Every entry is shown with its overlap with the labels: the cost
// of the stacks that it shares with any label.
type labels struct {
	paths []callpath.Path // never changed in place: a session and other goroutines share them
	costs entryCosts[*big.Rat]
}

func newLabels(w *profileWindow, paths []callpath.Path) *labels {
	l := &labels{paths: paths}
	l.costs = entryCosts[*big.Rat]{w: w, begin: l.overlaps}
	return l
}

// toggle labels an entry, or removes its label.
func (l *labels) toggle(p callpath.Path) {
	n := len(l.paths)
	l.paths = slices.DeleteFunc(slices.Clone(l.paths),
		func(q callpath.Path) bool { return q.String() == p.String() })
	if len(l.paths) == n {
		l.paths = append(l.paths, p)
	}
	l.costs.forget()
}

// has reports whether an entry is labelled.
func (l *labels) has(e *refine.Entry) bool {
	return slices.ContainsFunc(l.paths, func(q callpath.Path) bool { return q.String() == e.Key() })
}

// overlaps prepares the computation of overlaps: the costs of entries among the
// stacks of a tree that satisfy a label.
func (l *labels) overlaps(t *calltree.Tree,
	m *calltree.Membership) func([]callpath.Path) []*big.Rat {
	labelled := l.paths
	shared := sync.OnceValue(func() *calltree.Tree { return refine.Labelled(t, m, labelled) })
	return func(paths []callpath.Path) []*big.Rat {
		costs := make([]*big.Rat, len(paths))
		for i, total := range callpath.Totals(shared(), m, paths) {
			costs[i] = t.Main().Cost(total.Weight)
		}
		return costs
	}
}

// text shows an entry's overlap with the labels.
func (l *labels) text(r row) string {
	cost, _ := l.costs.get(r)
	return report.Overlap(cost)
}
