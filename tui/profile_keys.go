package tui

import (
	"slices"

	"github.com/cpprof/cpprof/refine"
)

// bindings are the keys and buttons of a profile window.
func (w *profileWindow) bindings() []binding {
	refining := []binding{
		on("d", "Down", "refine: the functions that the entry calls immediately",
			w.selected(w.refiner.refineCalls)),
		on("e", "Extend", "refine: all functions below the entry",
			w.selected(func(e *refine.Entry) { w.refiner.refineEntry(refine.KindExtended, e) })),
		on("u", "Up", "upward split: the callers of the entry, below the path before its '..'",
			w.selected(w.refiner.split)),
		on("Enter", "Follow",
			"refine down to the first branch, and select the heaviest entry there",
			w.selected(w.refiner.follow)),
		on("p", "Prune", "prune: keep only the stacks with the entry, or without it",
			w.selected(w.refiner.askPrune)),
		on("z", "", "zoom: the entry's stacks become the whole, and cost 1.000; U reverts it",
			w.selected(w.refiner.zoom)),
		on("v", "Details", "show or hide the entry's details: exact cost, interval, source",
			w.detail.toggle),
		on("E", "", "open the entry's function in an editor: --editor, $VISUAL or $EDITOR",
			w.selected(w.edit)),
		on("U", "Undo", "undo the last refinement or prune", w.refiner.undo),
		on("a", "Auto", "refine the heaviest entries at and below the selected one automatically",
			w.selected(func(e *refine.Entry) { w.refiner.auto(e, autoSteps) })),
		on("R", "Redo", "redo the last undone step", w.refiner.redo),
	}
	others := []binding{
		on("m", "Label",
			"label or unlabel the entry: a column shows the overlap of entries with labelled ones",
			w.selected(func(e *refine.Entry) { w.labels.toggle(e.Path) })),
		on("[", "", "a lower threshold: show more entries", func() { w.slider.slide(-1) }),
		on("]", "", "a higher threshold: show fewer entries", func() { w.slider.slide(1) }),
		on("l Right", "", "expand the entry, and go to the first one below it", w.selected(w.into)),
		on("h Left", "", "collapse the entry, or go to the one above it", w.selected(w.out)),
		on("Space", "", "collapse or expand the entry",
			w.selected(func(e *refine.Entry) { w.collapse(e, !w.session.Collapsed(e)) })),
		on("y", "", "copy the entry's path to the clipboard", w.selected(w.copyPath)),
	}
	pans := []binding{
		on("<", "", "move the names to the right", func() { w.entries.pan -= panColumns }),
		on(">", "", "move the names to the left", func() { w.entries.pan += panColumns }),
	}
	return slices.Concat(refining, w.columnBindings(), w.displayBindings(), others,
		w.entries.bindings(), pans, w.detail.pane.bindings(""))
}

// selected returns what does something to the selected entry, if
// there is one.
func (w *profileWindow) selected(do func(*refine.Entry)) func() {
	return func() {
		if e := w.entries.entry(); e != nil {
			do(e)
		}
	}
}

// copyPath copies the entry's path to the terminal's clipboard (OSC 52).
func (w *profileWindow) copyPath(e *refine.Entry) {
	w.a.screen.SetClipboard([]byte(e.Key()))
	w.a.say("Copied %s", e.Key())
}

// mouse selects and opens entries, scrolls, and moves the threshold.
func (w *profileWindow) mouse(action mouseAction, x, y int) {
	if w.session == nil {
		return
	}
	column, _, onSlider := w.slider.track.has(x, y)
	switch {
	case action == mouseDown:
		w.slider.held = onSlider
		if onSlider {
			w.a.act(w, func() { w.slider.slideTo(column, true) })
		}
	case action == mouseDrag:
		if w.slider.held {
			w.a.act(w, func() { w.slider.slideTo(column, false) })
		}
	case action == mouseUp:
		w.slider.held = false
	case w.detail.on && w.detail.mouse(action, x, y):
	default:
		w.entries.mouse(action, x, y)
	}
}

// clickRow handles a click on a row, which is already selected:
// a click on its marker collapses or expands it, and a double
// click elsewhere acts as Enter.
func (w *profileWindow) clickRow(line, column int, double bool) {
	r := w.entries.rows[line]
	switch marker := w.entries.marker(r.depth); {
	case len(r.entry.Children) > 0 && column >= marker && column <= marker+1:
		w.collapse(r.entry, !w.session.Collapsed(r.entry))
	case double:
		w.refiner.follow(r.entry)
	}
}
