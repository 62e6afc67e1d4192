package tui

import (
	"fmt"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/report"
)

// A comparison has the costs of entries in two views, for a window of a merged tree.
type comparison struct {
	w     *profileWindow
	of    *calltree.Tree // that the costs are of
	costs map[string]report.Both
	busy  bool
}

// order puts the rows below each entry in the order of what changed most. What it lacks for that it computes beside, and has
// the window updated then.
func (c *comparison) order() {
	s, rows := c.w.session, c.w.rows
	if c.of != s.Tree() {
		c.of, c.costs = s.Tree(), make(map[string]report.Both)
	}
	var keys []string
	var paths []callpath.Path
	for _, r := range rows {
		if _, there := c.costs[r.entry.Key()]; !there {
			keys = append(keys, r.entry.Key())
			paths = append(paths, r.entry.Path)
		}
	}
	if len(keys) == 0 {
		c.w.rows = c.ordered(rows)
		return
	}
	if c.busy {
		return
	}
	c.busy = true
	tree, members := s.Tree(), s.Membership()
	beside(c.w.a, func() []report.Both { return report.CostsOfBoth(tree, members, paths) }, func(found []report.Both) {
		c.busy = false
		for i, key := range keys {
			if c.of == tree {
				c.costs[key] = found[i]
			}
		}
		c.w.update()
	})
}

// ordered gives rows, the first of which is above all others, in order.
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
		return c.costs[x[0].entry.Key()].Compare(c.costs[y[0].entry.Key()])
	})
	list := []row{rows[0]}
	for _, r := range below {
		list = append(list, c.ordered(r)...)
	}
	return list
}

const comparisonHead = "      A       B   A - B"

// text shows an entry's costs, and the first less the second, with its level of heat.
func (c *comparison) text(r row) (text string, level int) {
	costs, there := c.costs[r.entry.Key()]
	if !there {
		return fmt.Sprintf("%6s  %6s  %6s", "…", "…", "…"), heatLevels - 1
	}
	d := costs.Difference()
	return costs.String(), heatLevel(d.Abs(d))
}
