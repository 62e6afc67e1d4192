package tui

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// has tells whether a cell of the screen is on the canvas, and where.
func (c canvas) has(x, y int) (column, line int, ok bool) {
	column, line = x-c.x, y-c.y
	return column, line, column >= 0 && column < c.width && line >= 0 && line < c.height
}

// MouseHandler selects and opens entries, scrolls, and moves the threshold.
func (w *profileWindow) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(action tview.MouseAction, e *tcell.EventMouse, _ func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := e.Position()
		if !w.InRect(x, y) && !w.sliding || w.session == nil {
			return false, nil
		}
		return w.mouse(action, x, y), nil
	}
}

func (w *profileWindow) mouse(action tview.MouseAction, x, y int) bool {
	column, _, onSlider := w.list.slider.has(x, y)
	_, line, onList := w.list.area.has(x, y)
	switch action {
	case tview.MouseLeftDown:
		w.sliding = onSlider
		if onSlider {
			w.a.act(w, func() { w.slideTo(column, true) })
		}
	case tview.MouseMove:
		if w.sliding {
			w.a.act(w, func() { w.slideTo(column, false) })
		}
	case tview.MouseLeftUp:
		w.sliding = false
	case tview.MouseLeftClick, tview.MouseLeftDoubleClick:
		if onList {
			w.a.act(w, func() { w.clickRow(w.list.top+line, x-w.list.area.x, action == tview.MouseLeftDoubleClick) })
		}
	case tview.MouseScrollUp, tview.MouseScrollDown:
		by := wheelLines
		if action == tview.MouseScrollUp {
			by = -wheelLines
		}
		if _, _, onDetail := w.detail.area.has(x, y); w.detail.on && onDetail {
			w.detail.scroll(by)
		} else {
			w.list.top += by
		}
	default:
		return false
	}
	return true
}

// clickRow selects a row. A click on its marker collapses or opens it too, a double click elsewhere follows it.
func (w *profileWindow) clickRow(i, column int, double bool) {
	if i >= len(w.rows) {
		return
	}
	w.choose(i)
	r := w.rows[i]
	switch marker := w.list.marker(r.depth); {
	case len(r.entry.Children) > 0 && column >= marker && column <= marker+1:
		w.collapse(!w.session.Collapsed(r.entry))
	case double:
		w.follow()
	}
}

// marker is the column of the markers of a depth.
func (l *listView) marker(depth int) int { return l.names + 2*depth - l.shift }
