package tui

import (
	"fmt"
	"math/big"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/report"
)

// A comparison has the costs of entries in two views, for a window of a merged tree.
type comparison struct {
	w     *profileWindow
	of    *calltree.Tree // that the costs are of
	costs map[string][2]*big.Rat
	busy  bool
}

// want computes, beside, what the rows lack.
func (c *comparison) want(rows []row) {
	s := c.w.session
	if c.of != s.Tree() {
		c.of, c.costs = s.Tree(), make(map[string][2]*big.Rat)
	}
	var keys []string
	var paths []callpath.Path
	for _, r := range rows {
		if _, there := c.costs[r.entry.Key()]; !there {
			keys = append(keys, r.entry.Key())
			paths = append(paths, r.entry.Path)
		}
	}
	if len(keys) == 0 || c.busy {
		return
	}
	c.busy = true
	tree, members := s.Tree(), s.Membership()
	beside(c.w.a, func() [][2]*big.Rat { return bothCosts(tree, members, paths) }, func(found [][2]*big.Rat) {
		c.busy = false
		for i, key := range keys {
			if c.of == tree {
				c.costs[key] = found[i]
			}
		}
	})
}

// bothCosts gives what paths cost in the two views that a tree was merged from.
func bothCosts(t *calltree.Tree, m *calltree.Membership, paths []callpath.Path) [][2]*big.Rat {
	costs := make([][2]*big.Rat, len(paths))
	for side := range 2 {
		only := t.Only(side + 1)
		for i, h := range callpath.Costs(only, m, paths) {
			costs[i][side] = only.Main().Cost(h)
		}
	}
	return costs
}

const comparisonHead = "      A       B   A - B"

// text shows an entry's costs, and the first less the second, with its level of heat.
func (c *comparison) text(r row) (text string, level int) {
	costs, there := c.costs[r.entry.Key()]
	if !there {
		return fmt.Sprintf("%6s  %6s  %6s", "…", "…", "…"), heatLevels - 1
	}
	d := new(big.Rat).Sub(costs[0], costs[1])
	text = fmt.Sprintf("%6s  %6s  %6s", report.Cost(costs[0]), report.Cost(costs[1]), report.Signed(d))
	return text, heatLevel(d.Abs(d))
}
