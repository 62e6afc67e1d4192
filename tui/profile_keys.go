package tui

import "github.com/cpprof/cpprof/refine"

// bindings are the keys and buttons of a profile window.
func (w *profileWindow) bindings() []binding {
	do := func(f func()) func(string) { return func(string) { f() } }
	own := []binding{
		{keys: []string{"d"}, label: "Down", description: "refine: what the entry calls immediately", do: do(func() { w.refiner.refineSelected(refine.KindDown) })},
		{keys: []string{"e"}, label: "Extend", description: "refine: what the entry leads to, however far down", do: do(func() { w.refiner.refineSelected(refine.KindExtended) })},
		{keys: []string{"u"}, label: "Up", description: "upward split: who calls the entry, from within what stands before its '..'", do: do(w.refiner.splitSelected)},
		{keys: []string{"Enter"}, label: "Follow", description: "go on to where the entry branches, and to the heaviest branch", do: do(w.refiner.follow)},
		{keys: []string{"p"}, label: "Prune", description: "prune the entry away, or to it", do: do(w.refiner.askPrune)},
		{keys: []string{"v"}, label: "Details", description: "the entry in full: exact cost, interval, source (or not)", do: do(w.detail.toggle)},
		{keys: []string{"U"}, label: "Undo", description: "undo the last refinement or prune", do: do(w.refiner.undo)},
		{keys: []string{"a"}, label: "Auto", description: "follow the heaviest entries by itself", do: do(func() { w.refiner.auto(autoSteps) })},
		{keys: []string{"R"}, label: "Redo", description: "redo what was undone", do: do(w.refiner.redo)},
	}
	own = append(own, w.columnBindings()...)
	own = append(own, []binding{
		{keys: []string{"m"}, label: "Label", description: "label the entry, or not: a column shows what the others share with those labelled", do: do(w.toggleLabel)},
		{keys: []string{"["}, description: "a lower threshold: show more entries", do: do(func() { w.slider.slide(-1) })},
		{keys: []string{"]"}, description: "a higher threshold: show fewer entries", do: do(func() { w.slider.slide(1) })},
		{keys: []string{"l", "Right"}, description: "into the entry: open it, or its first one", do: do(w.into)},
		{keys: []string{"h", "Left"}, description: "out of the entry: collapse it, or the one above", do: do(w.out)},
		{keys: []string{"Space"}, description: "collapse the entry, or open it", do: do(w.toggleCollapsed)},
		{keys: []string{"y"}, description: "copy the entry's path to the clipboard", do: do(w.copyPath)},
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

// copyPath puts the entry's path on the terminal's clipboard (OSC 52).
func (w *profileWindow) copyPath() {
	if e := w.entries.entry(); e != nil {
		w.a.screen.SetClipboard([]byte(e.Key()))
		w.a.say("Copied %s", e.Key())
	}
}
