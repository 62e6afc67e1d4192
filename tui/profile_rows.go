package tui

import (
	"math/big"
	"strings"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/refine"
)

// A row is an entry that is shown.
type row struct {
	entry *refine.Entry
	depth int
	cost  *big.Rat
}

// update takes over what the session shows, and keeps the entry that is selected.
func (w *profileWindow) update() {
	w.rows = w.rows[:0:0]
	if w.session == nil {
		return
	}
	w.session.Walk(func(e *refine.Entry, depth int) {
		w.rows = append(w.rows, row{e, depth, w.session.Cost(e)})
	})
	if len(w.wanted.Elements) == 0 {
		w.wanted = w.session.Root().Path
	}
	if w.compares() {
		w.rows = w.both.order(w.rows)
	}
	w.selected = w.nearest(w.wanted)
	w.list.follow = true
}

// nearest is the row of a path's entry, or of the nearest entry above it that is shown.
func (w *profileWindow) nearest(p callpath.Path) int {
	best := 0
	for n := len(p.Elements); n > 0; n-- {
		key := p.Prefix(n).String()
		for i, r := range w.rows {
			if r.depth == n-1 && r.entry.Key() == key {
				return i
			}
		}
	}
	return best
}

// entry is the one that is selected, or nil where there is no view.
func (w *profileWindow) entry() *refine.Entry {
	if w.selected >= len(w.rows) {
		return nil
	}
	return w.rows[w.selected].entry
}

// choose selects a row, as near as there is one.
func (w *profileWindow) choose(i int) {
	if len(w.rows) == 0 {
		return
	}
	w.selected = min(max(i, 0), len(w.rows)-1)
	w.wanted = w.entry().Path
	w.list.follow = true
}

// chooseEntry selects an entry.
func (w *profileWindow) chooseEntry(p callpath.Path) {
	w.choose(w.nearest(p))
	w.wanted = p
}

// into goes to the first entry below the selected one, opening it where it is collapsed.
func (w *profileWindow) into() {
	e := w.entry()
	if e == nil {
		return
	}
	if w.session.Collapsed(e) {
		w.collapse(false)
		return
	}
	if next := w.selected + 1; next < len(w.rows) && w.rows[next].depth > w.rows[w.selected].depth {
		w.choose(next)
	}
}

// out collapses the selected entry; where there is nothing to collapse it goes to the entry above.
func (w *profileWindow) out() {
	e := w.entry()
	if e == nil {
		return
	}
	if len(e.Children) > 0 && !w.session.Collapsed(e) && w.rows[w.selected].depth > 0 {
		w.collapse(true)
		return
	}
	if n := len(e.Path.Elements); n > 1 {
		w.chooseEntry(e.Path.Prefix(n - 1))
	}
}

func (w *profileWindow) collapse(yes bool) {
	if e := w.entry(); e != nil && len(e.Children) > 0 {
		w.session.Collapse(e.Path, yes)
		w.update()
	}
}

// seek goes to the next entry, or the one before, whose name has the text that was searched last.
func (w *profileWindow) seek(by int) {
	if w.search == "" || len(w.rows) == 0 {
		w.a.say("Nothing was searched yet: / asks for a text.")
		return
	}
	n := len(w.rows)
	for i := 1; i <= n; i++ {
		at := ((w.selected+by*i)%n + n) % n
		if strings.Contains(strings.ToLower(w.rows[at].entry.Label()), strings.ToLower(w.search)) {
			if by > 0 && at <= w.selected || by < 0 && at >= w.selected {
				w.a.say("Searched on from the other end.")
			}
			w.choose(at)
			return
		}
	}
	w.a.say("No entry shown has %q.", w.search)
}
