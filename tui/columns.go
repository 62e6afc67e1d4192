package tui

import (
	"fmt"
	"math/big"

	"github.com/cpprof/cpprof/bottlenecks"
	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// The columns of a profile that can be switched on.
type profileColumns struct {
	w        *profileWindow
	split    bool // of each entry's cost over typed time
	interval bool // in which the cost lies with a probability of 95 %
	costs    entryCosts[views.Parts]
}

func (c *profileColumns) head() string {
	var s string
	if len(c.w.labels.paths) > 0 {
		s += report.LabelsHead
	}
	if c.interval {
		s += "      ±"
	}
	if c.split {
		for t := range views.NumTypedTimes {
			s += fmt.Sprintf("%5s", t.Short())
		}
	}
	return s
}

// want computes, beside, what the rows' columns lack.
func (c *profileColumns) want(rows []row) {
	if c.split {
		c.costs.want(rows)
	}
}

// newSplits are the splits of a window's entries.
func newSplits(w *profileWindow) entryCosts[views.Parts] {
	return entryCosts[views.Parts]{
		w: w, atOnce: 8, // so that a large tree's fill in bit by bit
		begin: func(t *calltree.Tree, m *calltree.Membership) func([]callpath.Path) []views.Parts {
			return func(paths []callpath.Path) []views.Parts { return splits(t, m, paths) }
		},
	}
}

// splits returns the cost of P ..:RUN, P ..:LOAD and so on for every path. A path that ends in typed time itself is all of
// that kind.
func splits(t *calltree.Tree, m *calltree.Membership, paths []callpath.Path) []views.Parts {
	var all []callpath.Path
	for _, p := range paths {
		own, ends := typedTimeOf(p)
		for typed := range views.NumTypedTimes {
			q := p.Then(callpath.Frame(typed.String()), true)
			if ends && typed == own {
				q = p
			}
			all = append(all, q)
		}
	}
	costs := make([]views.Parts, len(paths))
	for i, h := range callpath.Costs(t, m, all) {
		costs[i/int(views.NumTypedTimes)][i%int(views.NumTypedTimes)] = t.Main().Cost(h)
	}
	return costs
}

// typedTimeOf returns the typed time to which the end of a path belongs, if it belongs to one.
func typedTimeOf(p callpath.Path) (views.TypedTime, bool) {
	names := make([]string, len(p.Elements))
	for i, e := range p.Elements {
		names[i] = e.Name
	}
	return views.TypedTimeOf(names)
}

// draw draws the columns of a row.
func (c *profileColumns) draw(on canvas, r row, style tcell.Style) {
	x := 0
	if len(c.w.labels.paths) > 0 {
		x = on.text(x, 0, c.w.labels.text(r), style)
	}
	if c.interval {
		text := "-"
		if i := bottlenecks.CostInterval(c.w.session.Tree().Main(), r.entry.Hits); i != nil {
			text = fmt.Sprintf("±%.3f", (i.High-i.Low)/2)
		}
		x = on.text(x, 0, fmt.Sprintf("%7s", text), style)
	}
	if !c.split {
		return
	}
	costs, there := c.costs.get(r)
	for i := range costs {
		text := "…"
		if there {
			text = fraction(costs[i])
		}
		s := style
		if s == c.w.a.theme.plain {
			s = c.w.a.theme.typed[i]
		}
		x = on.text(x, 0, fmt.Sprintf("%5s", text), s)
	}
}

// fraction shows a cost with two decimals and no more than it needs: ".27", "1.00", "" for none.
func fraction(cost *big.Rat) string {
	text := report.Decimal(cost, 2)
	switch {
	case cost.Sign() == 0:
		return ""
	case text[0] == '0':
		return text[1:]
	}
	return text
}
