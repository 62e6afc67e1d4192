package tui

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views/calltree"
)

// entryCosts are values of a profile window's entries, such as
// their costs in another tree. They are computed on another
// goroutine for the rows that need them, and dropped if the
// window shows another tree.
type entryCosts[V any] struct {
	w *profileWindow

	// compute computes the values of paths in a tree, on another
	// goroutine. It is not called again before it has returned.
	compute func(*calltree.Tree, *calltree.Membership, []callpath.Path) []V

	atOnce int    // limits the number computed before they are shown; 0 is no limit
	then   func() // is called when more values are known; may be nil

	of     *calltree.Tree
	values map[string]V // by an entry's key; another map for each tree
	busy   bool
}

// get returns the value of an entry, and reports whether it is known yet.
func (c *entryCosts[V]) get(r row) (V, bool) {
	v, there := c.values[r.entry.Key()]
	return v, there
}

// forget drops all values. They are then computed again.
func (c *entryCosts[V]) forget() { c.of, c.values = nil, nil }

// want starts to compute the values that rows lack, and reports
// whether they lack none.
func (c *entryCosts[V]) want(rows []row) bool {
	s := c.w.session
	if c.of != s.Tree() {
		c.of, c.values = s.Tree(), make(map[string]V)
	}
	var keys []string
	var paths []callpath.Path
	for _, r := range rows {
		if _, there := c.get(r); !there && (c.atOnce == 0 || len(keys) < c.atOnce) {
			keys = append(keys, r.entry.Key())
			paths = append(paths, r.entry.Path)
		}
	}
	if len(keys) == 0 || c.busy {
		return len(keys) == 0
	}
	c.busy = true
	compute, values := c.compute, c.values
	work := func() []V { return compute(s.Tree(), s.Membership(), paths) }
	background(c.w.a, work, func(found []V) {
		c.busy = false
		for i, key := range keys {
			values[key] = found[i]
		}
		if c.then != nil {
			c.then()
		}
	})
	return false
}

// A lazy is one value that is computed on another goroutine when
// it is first needed.
type lazy[V any] struct {
	value   *V // nil until it is known
	pending *V // the result of the running work; nil if there is none
}

// get returns the value if it is known; otherwise it starts to
// compute it, and returns nil.
func (l *lazy[V]) get(a *app, work func() V) *V {
	if l.value == nil && l.pending == nil {
		pending := new(V)
		l.pending = pending
		background(a, work, func(v V) {
			if l.pending == pending {
				*pending = v
				l.value, l.pending = pending, nil
			}
		})
	}
	return l.value
}

// forget drops the value and the result of running work. The
// value is then computed again.
func (l *lazy[V]) forget() { *l = lazy[V]{} }

// The labels of a profile window are entries that the user has
// marked as understood. Every entry is shown with its overlap
// with the labels: the cost of the stacks that it shares with
// any label.
type labels struct {
	paths []callpath.Path // never changed in place: a session and other goroutines share them
	costs entryCosts[*big.Rat]
}

// toggle labels an entry, or removes its label.
func (l *labels) toggle(p callpath.Path) {
	n := len(l.paths)
	l.paths = slices.DeleteFunc(slices.Clone(l.paths),
		func(q callpath.Path) bool { return q.String() == p.String() })
	if len(l.paths) == n {
		l.paths = append(l.paths, p)
	}
	l.costs.compute = overlaps(l.paths)
	l.costs.forget()
}

// has reports whether an entry is labelled.
func (l *labels) has(e *refine.Entry) bool {
	return slices.ContainsFunc(l.paths, func(q callpath.Path) bool { return q.String() == e.Key() })
}

// overlaps returns what computes overlaps: the costs of entries
// among the stacks of a tree that satisfy a label. It keeps the
// stacks of the last tree.
func overlaps(labelled []callpath.Path) func(*calltree.Tree, *calltree.Membership,
	[]callpath.Path) []*big.Rat {
	var of, shared *calltree.Tree
	return func(t *calltree.Tree, m *calltree.Membership, paths []callpath.Path) []*big.Rat {
		if of != t {
			of, shared = t, refine.Labelled(t, m, labelled)
		}
		return lists.Each(callpath.Totals(shared, m, paths),
			func(total calltree.Total) *big.Rat { return t.Main().Cost(total.Weight) })
	}
}

// text shows an entry's overlap with the labels.
func (l *labels) text(r row) string {
	cost, _ := l.costs.get(r)
	return report.Overlap(cost)
}

// A comparison has the costs and own times of entries in two
// views, for a window of a merged tree.
type comparison struct{ costs, owns entryCosts[report.Both] }

// want starts to compute what the order of rows lacks, and
// reports whether it lacks nothing.
func (c *comparison) want(rows []row) bool { return c.costs.want(rows) && c.by().want(rows) }

// by returns the values that order the entries below one.
func (c *comparison) by() *entryCosts[report.Both] {
	if c.costs.w.session.Display().ByOwn {
		return &c.owns
	}
	return &c.costs
}

// order puts the entry first that changed most.
func (c *comparison) order(x, y *refine.Entry) int {
	a, _ := c.by().get(row{entry: x})
	b, _ := c.by().get(row{entry: y})
	return a.Compare(b)
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
