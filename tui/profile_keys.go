package tui

import "github.com/cpprof/cpprof/refine"

// bindings are the keys and buttons of a profile window.
func (w *profileWindow) bindings() []binding {
	do := func(f func()) func(string) { return func(string) { f() } }
	own := []binding{
		{keys: []string{"d"}, label: "Down",
			description: "refine: the functions that the entry calls immediately",
			do:          do(w.refiner.refineCalls)},
		{keys: []string{"e"}, label: "Extend",
			description: "refine: all functions below the entry",
			do:          do(func() { w.refiner.refineSelected(refine.KindExtended) })},
		{keys: []string{"u"}, label: "Up",
			description: "upward split: the callers of the entry, below the path before its '..'",
			do:          do(w.refiner.splitSelected)},
		{keys: []string{"Enter"}, label: "Follow",
			description: "refine down to the first branch, and select the heaviest entry there",
			do:          do(w.refiner.follow)},
		{keys: []string{"p"}, label: "Prune",
			description: "prune: keep only the stacks with the entry, or without it",
			do:          do(w.refiner.askPrune)},
		{keys: []string{"z"},
			description: "zoom: the entry's stacks become the whole, and cost 1.000; U reverts it",
			do:          do(w.refiner.zoom)},
		{keys: []string{"v"}, label: "Details",
			description: "show or hide the entry's details: exact cost, interval, source",
			do:          do(w.detail.toggle)},
		{keys: []string{"U"}, label: "Undo", description: "undo the last refinement or prune",
			do: do(w.refiner.undo)},
		{keys: []string{"a"}, label: "Auto",
			description: "refine the heaviest entries at and below the selected one automatically",
			do:          do(func() { w.refiner.auto(autoSteps) })},
		{keys: []string{"R"}, label: "Redo", description: "redo the last undone step",
			do: do(w.refiner.redo)},
	}
	own = append(own, w.columnBindings()...)
	own = append(own, w.displayBindings()...)
	own = append(own, []binding{
		{keys: []string{"m"}, label: "Label",
			description: "label or unlabel the entry: a column shows the overlap of entries with labelled ones", do: do(w.toggleLabel)},
		{keys: []string{"["}, description: "a lower threshold: show more entries",
			do: do(func() { w.slider.slide(-1) })},
		{keys: []string{"]"}, description: "a higher threshold: show fewer entries",
			do: do(func() { w.slider.slide(1) })},
		{keys: []string{"l", "Right"},
			description: "expand the entry, and go to the first one below it", do: do(w.into)},
		{keys: []string{"h", "Left"},
			description: "collapse the entry, or go to the one above it", do: do(w.out)},
		{keys: []string{"Space"}, description: "collapse or expand the entry",
			do: do(w.toggleCollapsed)},
		{keys: []string{"y"}, description: "copy the entry's path to the clipboard",
			do: do(w.copyPath)},
	}...)
	own = append(own, w.entries.bindings()...)
	own = append(own, w.entries.panBindings()...)
	return append(own, w.detail.pane.bindings("")...)
}

func (w *profileWindow) toggleLabel() {
	if e := w.entries.entry(); e != nil {
		w.labels.toggle(e.Path)
	}
}

// copyPath copies the entry's path to the terminal's clipboard (OSC 52).
func (w *profileWindow) copyPath() {
	if e := w.entries.entry(); e != nil {
		w.a.screen.SetClipboard([]byte(e.Key()))
		w.a.say("Copied %s", e.Key())
	}
}
