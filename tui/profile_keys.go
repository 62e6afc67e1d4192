package tui

import "github.com/cpprof/cpprof/refine"

// bindings are the keys and buttons of a profile window.
func (w *profileWindow) bindings() []binding {
	page := max(w.list.area.height-1, 1)
	do := func(f func()) func(string) { return func(string) { f() } }
	return []binding{
		{keys: []string{"d"}, label: "Down", description: "refine: what the entry calls immediately", do: do(func() { w.refineSelected(refine.KindDown) })},
		{keys: []string{"e"}, label: "Extend", description: "refine: what the entry leads to, however far down", do: do(func() { w.refineSelected(refine.KindExtended) })},
		{keys: []string{"u"}, label: "Up", description: "upward split: who calls the entry, from within what stands before its '..'", do: do(w.splitSelected)},
		{keys: []string{"Enter"}, label: "Follow", description: "go on to where the entry branches, and to the heaviest branch", do: do(w.follow)},
		{keys: []string{"p"}, label: "Prune", description: "prune the entry away, or to it", do: do(w.askPrune)},
		{keys: []string{"v"}, label: "Details", description: "the entry in full: exact cost, interval, source (or not)", do: do(w.detail.toggle)},
		{keys: []string{"U"}, label: "Undo", description: "undo the last refinement or prune", do: do(w.undo)},
		{keys: []string{"a"}, label: "Auto", description: "follow the heaviest entries by itself", do: do(func() { w.auto(autoSteps) })},
		{keys: []string{"R"}, label: "Redo", description: "redo what was undone", do: do(w.redo)},
		{keys: []string{"t"}, label: "Typed", description: "columns of the typed time that the entry leads to (or not)", do: do(func() { w.columns.split = !w.columns.split })},
		{keys: []string{"i"}, label: "±", description: "a column of the 95 % interval of the cost (or not)", do: do(func() { w.columns.interval = !w.columns.interval })},
		{keys: []string{"m"}, label: "Label", description: "label the entry, or not: a column shows what the others share with those labelled", do: do(w.toggleLabel)},
		{keys: []string{"["}, description: "a lower threshold: show more entries", do: do(func() { w.slide(-1) })},
		{keys: []string{"]"}, description: "a higher threshold: show fewer entries", do: do(func() { w.slide(1) })},
		{keys: []string{"j", "Down"}, description: "the next entry", do: do(func() { w.choose(w.selected + 1) })},
		{keys: []string{"k", "Up"}, description: "the entry before", do: do(func() { w.choose(w.selected - 1) })},
		{keys: []string{"l", "Right"}, description: "into the entry: open it, or its first one", do: do(w.into)},
		{keys: []string{"h", "Left"}, description: "out of the entry: collapse it, or the one above", do: do(w.out)},
		{keys: []string{"Space"}, description: "collapse the entry, or open it", do: do(w.toggleCollapsed)},
		{keys: []string{"g", "Home"}, description: "the first entry", do: do(func() { w.choose(0) })},
		{keys: []string{"G", "End"}, description: "the last entry", do: do(func() { w.choose(len(w.rows) - 1) })},
		{keys: []string{"Ctrl-F", "PgDn"}, description: "a page on", do: do(func() { w.choose(w.selected + page) })},
		{keys: []string{"Ctrl-B", "PgUp"}, description: "a page back", do: do(func() { w.choose(w.selected - page) })},
		{keys: []string{"Ctrl-D"}, description: "half a page on", do: do(func() { w.choose(w.selected + (page+1)/2) })},
		{keys: []string{"Ctrl-U"}, description: "half a page back", do: do(func() { w.choose(w.selected - (page+1)/2) })},
		{keys: []string{"<"}, description: "move the names to the right", do: do(func() { w.list.pan -= panColumns })},
		{keys: []string{">"}, description: "move the names to the left", do: do(func() { w.list.pan += panColumns })},
		{keys: []string{"J"}, description: "scroll the details down", do: do(func() { w.detail.scroll(1) })},
		{keys: []string{"K"}, description: "scroll the details up", do: do(func() { w.detail.scroll(-1) })},
		{keys: []string{"/"}, description: "search an entry shown by its name", do: do(w.askSearch)},
		{keys: []string{"n"}, description: "the next entry found", do: do(func() { w.seek(1) })},
		{keys: []string{"N"}, description: "the found entry before", do: do(func() { w.seek(-1) })},
		{keys: []string{"y"}, description: "copy the entry's path to the clipboard", do: do(w.copyPath)},
	}
}

// panColumns is how far names are moved at once.
const panColumns = 8

func (w *profileWindow) toggleCollapsed() {
	if e := w.entry(); e != nil {
		w.collapse(!w.session.Collapsed(e))
	}
}

func (w *profileWindow) toggleLabel() {
	if e := w.entry(); e != nil {
		w.labels.toggle(e.Path)
	}
}

// askSearch asks for a text, and goes to the next entry that has it.
func (w *profileWindow) askSearch() {
	w.a.ask("/", "", nil, func(text string) error {
		if text != "" {
			w.search = text
		}
		w.a.act(w, func() { w.seek(1) })
		return nil
	})
}

// copyPath puts the entry's path on the terminal's clipboard (OSC 52).
func (w *profileWindow) copyPath() {
	if e := w.entry(); e != nil {
		w.a.screen.SetClipboard([]byte(e.Key()))
		w.a.say("Copied %s", e.Key())
	}
}
