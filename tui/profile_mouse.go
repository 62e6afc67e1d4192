package tui

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// MouseHandler selects and opens entries, scrolls, and moves the threshold.
func (w *profileWindow) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(action tview.MouseAction, e *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := e.Position()
		if !w.InRect(x, y) && !w.slider.held || w.session == nil {
			return false, nil
		}
		return w.mouse(action, x, y), nil
	}
}

func (w *profileWindow) mouse(action tview.MouseAction, x, y int) bool {
	column, _, onSlider := w.slider.track.has(x, y)
	switch {
	case action == tview.MouseLeftDown:
		w.slider.held = onSlider
		if onSlider {
			w.a.act(w, func() { w.slider.slideTo(column, true) })
		}
	case action == tview.MouseMove:
		if w.slider.held {
			w.a.act(w, func() { w.slider.slideTo(column, false) })
		}
	case action == tview.MouseLeftUp:
		w.slider.held = false
	default:
		return w.detail.on && w.detail.mouse(action, x, y) || w.entries.mouse(action, x, y)
	}
	return true
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
