package tui

import (
	"fmt"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/refine"
)

// ownColumn has an entry's own cost or, in a comparison, the
// difference of its own costs.
var ownColumn = profileColumn{
	shown: func(w *profileWindow) bool { return w.session.Display().Own },
	head: func(w *profileWindow) string {
		if w.compares() {
			return report.OwnDifferenceHead
		}
		return report.OwnHead(w.session)
	},
	want: func(w *profileWindow, rows []row) {
		if w.compares() {
			w.both.owns.want(rows)
		}
	},
}.of(func(w *profileWindow, r row) string {
	if !w.compares() {
		return report.OwnColumn(w.session, r.entry)
	}
	owns, there := w.both.owns.get(r)
	if !there {
		return fmt.Sprintf("%*s", len(report.OwnDifferenceHead), "…")
	}
	return report.OwnDifference(owns)
})

// displayBindings are the keys that say how entries are shown.
func (w *profileWindow) displayBindings() []binding {
	change := func(f func(*refine.Display)) func() { return func() { w.changeDisplay(f) } }
	return []binding{
		on("f", "",
			"filter: show only the entries with a text in their names, and those above them",
			w.askFilter),
		on("Esc", "", "clear the filter", change(func(d *refine.Display) { d.Filter = "" })),
		on("s", "",
			"show or hide a column: the own time of the entry's function, whatever it waits for",
			change(func(d *refine.Display) {
				d.Own = !d.Own
				d.ByOwn = d.ByOwn && d.Own
			})),
		on("o", "", "order entries by their own time, or by cost again",
			change(func(d *refine.Display) {
				d.ByOwn = !d.ByOwn
				d.Own = d.Own || d.ByOwn
			})),
		on("%", "", "show costs as shares of the entry above, or of the whole again", func() {
			if w.compares() {
				w.a.say("A comparison shows the costs in both recordings, as shares of the whole.")
				return
			}
			w.changeDisplay(func(d *refine.Display) { d.OfParent = !d.OfParent })
		}),
	}
}

// changeDisplay changes how entries are shown.
func (w *profileWindow) changeDisplay(change func(*refine.Display)) {
	if w.session == nil {
		return
	}
	d := w.session.Display()
	change(&d)
	w.session.SetDisplay(d)
	w.update()
}

// askFilter asks for the text that names must have.
func (w *profileWindow) askFilter() {
	if w.session == nil {
		return
	}
	w.a.ask("filter: ", w.session.Display().Filter, nil, func(text string) error {
		w.a.act(w, func() { w.changeDisplay(func(d *refine.Display) { d.Filter = text }) })
		return nil
	})
}

// arrange computes the own times that are missing, on another goroutine.
func (w *profileWindow) arrange() {
	if w.session.Arranged() || w.compares() {
		return
	}
	s := w.session.Clone()
	attempt(w.a, w, "Computing own times", func() (*refine.Session, error) {
		s.Arrange()
		return s, nil
	}, func(s *refine.Session) {
		w.session = s
		w.update()
	}, w.a.fail)
}
