package tui

import "github.com/cpprof/cpprof/refine"

// update takes the entries from the session, and keeps the selection.
func (w *profileWindow) update() {
	w.entries.rows = w.entries.rows[:0:0]
	if w.session == nil {
		return
	}
	w.session.Walk(func(e *refine.Entry, depth int) {
		w.entries.rows = append(w.entries.rows, row{e, depth, w.session.Cost(e)})
	})
	if w.entries.selected == "" {
		w.entries.selected = w.session.Root().Key()
	}
	if w.compares() {
		w.entries.rows = w.both.order(w.entries.rows)
	}
	w.entries.reselect()
	w.arrange()
}

// into goes to the first entry below the selected one, and expands the selected
// one if it is collapsed.
func (w *profileWindow) into() {
	e := w.entries.entry()
	if e == nil {
		return
	}
	if w.session.Collapsed(e) {
		w.collapse(false)
		return
	}
	if rows, next := w.entries.rows, w.entries.at+1; next < len(rows) &&
		rows[next].depth > rows[next-1].depth {
		w.entries.choose(next)
	}
}

// out collapses the selected entry, or goes to the entry above if it cannot be
// collapsed.
func (w *profileWindow) out() {
	e := w.entries.entry()
	if e == nil {
		return
	}
	if len(e.Children) > 0 && !w.session.Collapsed(e) && w.entries.rows[w.entries.at].depth > 0 {
		w.collapse(true)
		return
	}
	if n := len(e.Path.Elements); n > 1 {
		w.entries.chooseKey(e.Path.Prefix(n - 1).String())
	}
}

func (w *profileWindow) collapse(yes bool) {
	if e := w.entries.entry(); e != nil && len(e.Children) > 0 {
		w.session.Collapse(e.Path, yes)
		w.update()
	}
}

func (w *profileWindow) toggleCollapsed() {
	if e := w.entries.entry(); e != nil {
		w.collapse(!w.session.Collapsed(e))
	}
}
