package tui

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/report"
)

// A comparison has the costs of entries in two views, for a window of a merged tree.
type comparison struct{ costs entryCosts[report.Both] }

// newComparison updates the window when it has more costs.
func newComparison(w *profileWindow) comparison {
	return comparison{entryCosts[report.Both]{
		w: w, then: w.update,
		begin: func(t *calltree.Tree, m *calltree.Membership) func([]callpath.Path) []report.Both {
			return func(paths []callpath.Path) []report.Both { return report.CostsOfBoth(t, m, paths) }
		},
	}}
}

// order sorts the rows below each entry by the size of the change, largest first. It leaves them unsorted until all
// costs are known.
func (c *comparison) order(rows []row) []row {
	if !c.costs.want(rows) {
		return rows
	}
	return c.ordered(rows)
}

// ordered returns rows in order; the first one is the root of the others.
func (c *comparison) ordered(rows []row) []row {
	var below [][]row
	for i, r := range rows[1:] {
		if r.depth == rows[0].depth+1 {
			below = append(below, rows[i+1:i+1])
		}
		last := len(below) - 1
		below[last] = below[last][:len(below[last])+1]
	}
	slices.SortStableFunc(below, func(x, y []row) int {
		a, _ := c.costs.get(x[0])
		b, _ := c.costs.get(y[0])
		return a.Compare(b)
	})
	list := []row{rows[0]}
	for _, r := range below {
		list = append(list, c.ordered(r)...)
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
