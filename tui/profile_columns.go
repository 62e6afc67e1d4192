package tui

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/gdamore/tcell/v2"
)

// A profileColumn is one column, or several that go together,
// before the call paths of a profile window.
type profileColumn struct {
	shown func(*profileWindow) bool // nil: if its key has switched it on
	key   string                    // switches it on or off
	label string                    // of the key's button
	about string                    // describes it in the help

	head func(*profileWindow) string
	// starts to compute missing values of rows; nil if there are none
	want func(w *profileWindow, rows []row)
	draw func(w *profileWindow, c canvas, r row, style tcell.Style) (width int)
}

// profileColumns are all columns, in their order.
var profileColumns = []profileColumn{costColumn, comparisonColumn, ownColumn, labelColumn,
	intervalColumn, typedColumn}

// of completes a column that has one text for each row.
func (c profileColumn) of(text func(*profileWindow, row) string) profileColumn {
	c.draw = func(w *profileWindow, on canvas, r row, style tcell.Style) int {
		return on.text(0, 0, text(w, r), style)
	}
	return c
}

// columnsShown returns the visible columns of the window.
func (w *profileWindow) columnsShown() []profileColumn {
	return slices.DeleteFunc(slices.Clone(profileColumns), func(c profileColumn) bool {
		return c.shown != nil && !c.shown(w) || c.shown == nil && !w.switched[c.key]
	})
}

// columnBindings returns the keys that switch columns, from right to left.
func (w *profileWindow) columnBindings() (list []binding) {
	for _, c := range slices.Backward(profileColumns) {
		if c.key != "" {
			list = append(list, on(c.key, c.label, c.about,
				func() { w.switched[c.key] = !w.switched[c.key] }))
		}
	}
	return list
}

// costColumn has an entry's cost and hits.
var costColumn = profileColumn{
	shown: func(w *profileWindow) bool { return !w.compares() },
	head: func(w *profileWindow) string {
		return fmt.Sprintf("%6s  %*s", report.CostHead(w.session), w.hitsWidth(),
			report.HitsHead(w.session.Tree().Main()))
	},
}.of(func(w *profileWindow, r row) string {
	return fmt.Sprintf("%6s  %*s", report.Cost(w.session.Share(r.entry)), w.hitsWidth(),
		report.Hits(r.entry.Hits))
})

// hitsWidth returns the width of the largest number of hits.
func (w *profileWindow) hitsWidth() int {
	return max(len(report.HitsHead(w.session.Tree().Main())),
		len(report.Hits(w.session.Root().Hits)))
}

// comparisonColumn has an entry's cost in two recordings, and the difference.
var comparisonColumn = profileColumn{
	shown: (*profileWindow).compares,
	head:  func(*profileWindow) string { return report.BothHead },
}.of(func(w *profileWindow, r row) string { return w.both.text(r) })

// labelColumn has an entry's overlap with the labels.
var labelColumn = profileColumn{
	shown: func(w *profileWindow) bool { return len(w.labels.paths) > 0 },
	head:  func(*profileWindow) string { return report.LabelsHead },
	want:  func(w *profileWindow, rows []row) { w.labels.costs.want(rows) },
}.of(func(w *profileWindow, r row) string { return w.labels.text(r) })

// intervalColumn has half the width of the 95 % interval of the
// cost. If the window compares, the interval is for the
// difference.
var intervalColumn = profileColumn{
	key: "i", label: "±",
	about: "show or hide a column: the 95 % interval of the cost, or of the change",
	head:  func(*profileWindow) string { return "      ±" },
	want:  func(w *profileWindow, rows []row) { w.intervals.want(rows) },
}.of(func(w *profileWindow, r row) string {
	text := "-"
	if of, there := w.intervals.get(r); !there {
		text = "…"
	} else if i := of.shown(w); i != nil {
		text = fmt.Sprintf("±%.3f", i.Margin())
	}
	return fmt.Sprintf("%7s", text)
})

// intervals are the costs of an entry in a view, or in each of
// two, with their intervals; nil if there is none.
type intervals [2]*hotspots.Estimate

// shown returns the interval of what a row of the window shows.
func (i intervals) shown(w *profileWindow) *hotspots.Estimate {
	if w.compares() {
		return hotspots.Difference(i[0], i[1])
	}
	return i[0]
}

// sides returns the tree of the view that is shown, or the trees
// of both views.
func (w *profileWindow) sides(t *calltree.Tree) []*calltree.Tree {
	if w.compares() {
		a, b := t.Sides()
		return []*calltree.Tree{a, b}
	}
	return []*calltree.Tree{t}
}

func (w *profileWindow) intervalsOf(t *calltree.Tree, m *calltree.Membership,
	paths []callpath.Path) []intervals {
	all := make([]intervals, len(paths))
	for k, side := range w.sides(t) {
		for i, p := range paths {
			all[i][k] = hotspots.CostInterval(side, m, p)
		}
	}
	return all
}

// typedColumn has an entry's cost by typed time, or the
// difference of two recordings if the window compares.
var typedColumn = profileColumn{
	key: "t", label: "Typed",
	about: "show or hide columns: the typed time below the entry, or its change",
	head: func(*profileWindow) (s string) {
		for t := range views.NumTypedTimes {
			s += fmt.Sprintf("%5s", t.Short())
		}
		return s
	},
	want: func(w *profileWindow, rows []row) { w.splits.want(rows) },
	draw: func(w *profileWindow, c canvas, r row, style tcell.Style) (x int) {
		costs, there := w.splits.get(r)
		for i := range costs {
			text := "…"
			if there {
				text = fraction(costs[i])
			}
			s := style
			if s == w.a.theme.plain {
				s = w.a.theme.typed[i]
			}
			x = c.text(x, 0, fmt.Sprintf("%5s", text), s)
		}
		return x
	},
}

// splitsOf returns the costs of paths by typed time; of two
// views, those in the first minus those in the second.
func (w *profileWindow) splitsOf(t *calltree.Tree, m *calltree.Membership,
	paths []callpath.Path) []views.Parts {
	sides := w.sides(t)
	costs := splits(sides[0], m, paths)
	for _, side := range sides[1:] {
		for i, others := range splits(side, m, paths) {
			for typed, other := range others {
				costs[i][typed] = new(big.Rat).Sub(costs[i][typed], other)
			}
		}
	}
	return costs
}

// splits returns the cost of P ..:RUN, P ..:LOAD and so on for
// every path P. If a path ends in typed time, its whole cost is
// of that type.
func splits(t *calltree.Tree, m *calltree.Membership, paths []callpath.Path) []views.Parts {
	var all []callpath.Path
	for _, p := range paths {
		own, ends := typedTimeOf(p)
		for typed := range views.NumTypedTimes {
			q := p.Then(callpath.Frame(typed.String()), callpath.Extended)
			if ends && typed == own {
				q = p
			}
			all = append(all, q)
		}
	}
	costs := make([]views.Parts, len(paths))
	for i, h := range callpath.Totals(t, m, all) {
		costs[i/int(views.NumTypedTimes)][i%int(views.NumTypedTimes)] = t.Main().Cost(h.Weight)
	}
	return costs
}

// typedTimeOf returns the typed time that contains the end of a
// path, and reports whether there is one.
func typedTimeOf(p callpath.Path) (views.TypedTime, bool) {
	names := lists.Each(p.Elements, func(e callpath.Element) string { return e.Name })
	return views.TypedTimeOf(names)
}

// fraction shows a cost with two decimals, as short as possible:
// ".27", "-.05", "1.00"; "" for none.
func fraction(cost *big.Rat) string {
	text := report.Decimal(cost, 2)
	switch {
	case cost.Sign() == 0:
		return ""
	case text[0] == '0':
		return text[1:]
	case strings.HasPrefix(text, "-0"):
		return "-" + text[2:]
	}
	return text
}
