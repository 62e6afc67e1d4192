package tui

import (
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// A root is the whole screen: the tabs, the active window, the status line and the buttons.
type root struct {
	*tview.Box
	a       *app
	regions []region // of the last drawing
	clicked [2]int   // the cell of the last click
}

// A region of one line does something when it is clicked.
type region struct {
	y, from, to int // to is behind the last column
	do          func()
}

func newRoot(a *app) *root { return &root{Box: tview.NewBox(), a: a, clicked: [2]int{-1, -1}} }

// bars is the number of lines outside of the window: tabs above, status and buttons below.
const bars = 3

// Draw draws the whole screen.
func (r *root) Draw(screen tcell.Screen) {
	c := newCanvas(screen, r)
	c.clear(r.a.theme.plain)
	r.regions = r.regions[:0]
	r.drawTabs(c.part(0, 0, c.width, 1))
	body := c.part(0, 1, c.width, c.height-bars)
	w := r.a.window()
	w.SetRect(body.x, body.y, body.width, body.height)
	w.Draw(screen)
	if r.a.overlay != nil {
		r.a.overlay.draw(body)
	}
	if r.a.prompt != nil {
		r.a.prompt.draw(c.part(0, 0, c.width, c.height-1), r.a.theme)
	} else {
		r.drawStatus(c.part(0, 0, c.width, c.height-1))
	}
	r.drawButtons(c.part(0, c.height-1, c.width, 1))
}

// InputHandler takes all keys.
func (r *root) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return func(e *tcell.EventKey, _ func(tview.Primitive)) { r.a.key(e) }
}

// PasteHandler accepts text only if a prompt is open. Otherwise each character would act as a key.
func (r *root) PasteHandler() func(string, func(tview.Primitive)) {
	return func(text string, _ func(tview.Primitive)) {
		if r.a.prompt != nil {
			r.a.prompt.insert(text)
		}
	}
}

// MouseHandler passes clicks to the tabs and buttons, and all else to the active window.
func (r *root) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return func(action tview.MouseAction, e *tcell.EventMouse, focus func(tview.Primitive)) (bool, tview.Primitive) {
		x, y := e.Position()
		action = r.sameCell(action, x, y)
		if action == tview.MouseLeftClick || action == tview.MouseLeftDoubleClick {
			for _, g := range r.regions {
				if y == g.y && x >= g.from && x < g.to {
					r.a.message = message{}
					g.do()
					return true, nil
				}
			}
		}
		if o := r.a.overlay; o != nil {
			switch action {
			case tview.MouseScrollUp:
				o.scroll(-wheelLines)
			case tview.MouseScrollDown:
				o.scroll(wheelLines)
			case tview.MouseLeftClick, tview.MouseLeftDoubleClick:
				if c, ok := o.(clickable); ok {
					c.click(x, y)
				} else {
					r.a.overlay = nil
				}
			}
			return true, nil
		}
		if handle := r.a.window().MouseHandler(); handle != nil {
			return handle(action, e, focus)
		}
		return false, nil
	}
}

// wheelLines is the number of lines for one step of the wheel.
const wheelLines = 3

// sameCell turns a double click into a click unless both clicks were on the same cell.
func (r *root) sameCell(action tview.MouseAction, x, y int) tview.MouseAction {
	at := [2]int{x, y}
	if action == tview.MouseLeftDoubleClick && r.clicked != at {
		action = tview.MouseLeftClick
	}
	if action == tview.MouseLeftClick {
		r.clicked = at
	}
	return action
}
