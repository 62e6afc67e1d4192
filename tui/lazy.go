package tui

import (
	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/views/calltree"
)

// entryCosts are values of a profile window's entries, such as their costs in
// another tree. They are computed on another goroutine for the rows that need
// them, and dropped if the window shows another tree.
type entryCosts[V any] struct {
	w *profileWindow

	// begin is called once for each tree. It returns the function that computes
	// the values of paths in it, on another goroutine.
	begin func(*calltree.Tree, *calltree.Membership) func([]callpath.Path) []V

	atOnce int    // limits the number computed before they are shown; 0 is no limit
	then   func() // is called when more values are known; may be nil

	of      *calltree.Tree
	compute func([]callpath.Path) []V
	values  map[string]V // by an entry's key; another map for each tree
	busy    bool
}

// get returns the value of an entry, and reports whether it is known yet.
func (c *entryCosts[V]) get(r row) (V, bool) {
	v, there := c.values[r.entry.Key()]
	return v, there
}

// forget drops all values. They are then computed again.
func (c *entryCosts[V]) forget() { c.of, c.compute, c.values = nil, nil, nil }

// want starts to compute the values that rows lack, and reports whether they
// lack none.
func (c *entryCosts[V]) want(rows []row) bool {
	s := c.w.session
	if c.of != s.Tree() {
		c.of, c.compute, c.values = s.Tree(), c.begin(s.Tree(), s.Membership()), make(map[string]V)
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
	background(c.w.a, func() []V { return compute(paths) }, func(found []V) {
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

// A lazy is one value that is computed on another goroutine when it is first
// needed.
type lazy[V any] struct {
	value   *V // nil until it is known
	pending *V // the result of the running work; nil if there is none
}

// get returns the value if it is known; otherwise it starts to compute it, and
// returns nil.
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

// forget drops the value and the result of running work. The value is then
// computed again.
func (l *lazy[V]) forget() { *l = lazy[V]{} }
