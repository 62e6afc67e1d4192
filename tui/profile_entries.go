package tui

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/refine"
)

// entries are the list of a profile window: the visible entries,
// each below the one that it refines. If the selected entry is
// hidden, the nearest visible entry above it is used instead.
type entries struct {
	list
	rows []row

	names int // the first column of names
	shift int // columns that names are moved to the left
	pan   int // columns by which the user has moved the names to the left
}

// A row is a visible entry.
type row struct {
	entry *refine.Entry
	depth int
	cost  *big.Rat
}

func (l *entries) lines() int           { return len(l.rows) }
func (l *entries) key(line int) string  { return l.rows[line].entry.Key() }
func (l *entries) name(line int) string { return l.rows[line].entry.Label() }

func (l *entries) lineOf(key string) int {
	p, err := callpath.Parse(key)
	if err != nil {
		return 0
	}
	for n := len(p.Elements); n > 0; n-- {
		above := p.Prefix(n).String()
		for i, r := range l.rows {
			if r.depth == n-1 && r.entry.Key() == above {
				return i
			}
		}
	}
	return 0
}

// shared reports whether some stacks of an entry also count for
// another one beside it.
func (l *entries) shared() bool {
	return slices.ContainsFunc(l.rows, func(r row) bool { return r.entry.Shared })
}

// entry returns the selected entry, or nil if there is no view.
func (l *entries) entry() *refine.Entry {
	if line := l.current(); line >= 0 {
		return l.rows[line].entry
	}
	return nil
}

// revealBelow scrolls so that the entries below a path are
// visible, as many as fit.
func (l *entries) revealBelow(p callpath.Path) {
	i := l.lineOf(p.String())
	if i >= len(l.rows) || l.key(i) != p.String() {
		return
	}
	n := 0
	for n+i+1 < len(l.rows) && l.rows[i+1+n].depth > l.rows[i].depth {
		n++
	}
	l.reveal, l.toSelected = n, true
}

// marker returns the column of the markers of a depth.
func (l *entries) marker(depth int) int { return l.names + 2*depth - l.shift }

// layoutNames sets the first column of names. It moves names to
// the left until the selected one can be read, at any depth.
func (l *entries) layoutNames(names, room int) {
	l.names, l.shift = names, 0
	if e := l.entry(); e != nil {
		need := 2*l.rows[l.at].depth + 2 + min(textWidth(e.Label()), max(room/2, 12))
		l.shift = max(0, need-room+l.pan)
	}
}

// panColumns is the number of columns by which a key moves the names.
const panColumns = 8

// update takes the entries from the session, and keeps the selection.
func (w *profileWindow) update() {
	w.entries.rows = nil
	if w.session == nil {
		return
	}
	add := func(e *refine.Entry, depth int) {
		w.entries.rows = append(w.entries.rows, row{e, depth, w.session.Cost(e)})
	}
	w.session.Walk(add)
	w.entries.selected = cmp.Or(w.entries.selected, w.session.Root().Key())
	if w.compares() && w.both.want(w.entries.rows) {
		w.entries.rows = nil
		w.session.WalkBy(w.both.order, add)
	}
	w.entries.reselect()
	w.arrange()
}

// into goes to the first entry below the selected one, and
// expands the selected one if it is collapsed.
func (w *profileWindow) into(e *refine.Entry) {
	if w.session.Collapsed(e) {
		w.collapse(e, false)
		return
	}
	if rows, next := w.entries.rows, w.entries.at+1; next < len(rows) &&
		rows[next].depth > rows[next-1].depth {
		w.entries.choose(next)
	}
}

// out collapses the selected entry, or goes to the entry above
// if it cannot be collapsed.
func (w *profileWindow) out(e *refine.Entry) {
	if len(e.Children) > 0 && !w.session.Collapsed(e) && w.entries.rows[w.entries.at].depth > 0 {
		w.collapse(e, true)
		return
	}
	if n := len(e.Path.Elements); n > 1 {
		w.entries.chooseKey(e.Path.Prefix(n - 1).String())
	}
}

func (w *profileWindow) collapse(e *refine.Entry, yes bool) {
	if len(e.Children) > 0 {
		w.session.Collapse(e.Path, yes)
		w.update()
	}
}
