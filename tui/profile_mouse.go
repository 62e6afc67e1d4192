package tui

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

// clickRow handles a click on a row, which is already selected: a click on its
// marker collapses or expands it, and a double click elsewhere acts as Enter.
func (w *profileWindow) clickRow(line, column int, double bool) {
	r := w.entries.rows[line]
	switch marker := w.entries.marker(r.depth); {
	case len(r.entry.Children) > 0 && column >= marker && column <= marker+1:
		w.collapse(!w.session.Collapsed(r.entry))
	case double:
		w.refiner.follow()
	}
}
