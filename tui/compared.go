package tui

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/views/calltree"
)

// A comparison has the costs and own times of entries in two views, for a
// window of a merged tree.
type comparison struct{ costs, owns entryCosts[report.Both] }

// newComparison updates the window when it has more results.
func newComparison(w *profileWindow) comparison {
	values := func(of func(*calltree.Tree, *calltree.Membership,
		[]callpath.Path) []report.Both) entryCosts[report.Both] {
		return entryCosts[report.Both]{
			w: w, then: w.update,
			begin: func(t *calltree.Tree,
				m *calltree.Membership) func([]callpath.Path) []report.Both {
				return func(paths []callpath.Path) []report.Both { return of(t, m, paths) }
			},
		}
	}
	return comparison{values(report.CostsOfBoth), values(report.OwnsOfBoth)}
}

// order sorts the rows below each entry by their change, or by the change of
// their own times, largest first. It leaves them unsorted until all values are
// known.
func (c *comparison) order(rows []row) []row {
	by := &c.costs
	if c.costs.w.session.Display().ByOwn {
		by = &c.owns
	}
	if !c.costs.want(rows) || !by.want(rows) {
		return rows
	}
	return ordered(rows, by)
}

// ordered returns rows in order; the first one is the root of the others.
func ordered(rows []row, by *entryCosts[report.Both]) []row {
	var below [][]row
	for i, r := range rows[1:] {
		if r.depth == rows[0].depth+1 {
			below = append(below, rows[i+1:i+1])
		}
		last := len(below) - 1
		below[last] = below[last][:len(below[last])+1]
	}
	slices.SortStableFunc(below, func(x, y []row) int {
		a, _ := by.get(x[0])
		b, _ := by.get(y[0])
		return a.Compare(b)
	})
	list := []row{rows[0]}
	for _, r := range below {
		list = append(list, ordered(r, by)...)
	}
	return list
}

// text shows an entry's two costs, and the first minus the second.
func (c *comparison) text(r row) string {
	costs, there := c.costs.get(r)
	if !there {
		return fmt.Sprintf("%6s  %6s  %6s", "…", "…", "…")
	}
	return costs.String()
}

// heat returns the level of heat of the difference.
func (c *comparison) heat(r row) int {
	costs, there := c.costs.get(r)
	if !there {
		return report.HeatLevels - 1
	}
	d := costs.Difference()
	return report.HeatLevel(d.Abs(d))
}
