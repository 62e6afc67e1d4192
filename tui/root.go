package tui

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// A root is the whole screen: the tabs, the active window, the status line and
// the buttons.
type root struct {
	*tview.Box
	a       *app
	regions []region // of the last drawing
	clicked [2]int   // the cell of the last click
	pointer pointer

	pasting bool // between the beginning and the end of a pasted text
	pasted  strings.Builder
}

// A region of one line does something when it is clicked.
type region struct {
	y, from, to int // to is behind the last column
	do          func()
}

func newRoot(a *app) *root { return &root{Box: tview.NewBox(), a: a, clicked: [2]int{-1, -1}} }

// Draw draws the whole screen.
func (r *root) Draw(screen tcell.Screen) {
	c := newCanvas(screen, r)
	c.clear(r.a.theme.plain)
	r.regions = r.regions[:0]
	r.drawTabs(c.part(0, 0, c.width, 1))
	buttons := r.buttons(c.width, c.height)
	above := c.part(0, 0, c.width, c.height-len(buttons)) // with the status in its last line
	body := c.part(0, 1, c.width, above.height-2)
	w := r.a.window()
	w.SetRect(body.x, body.y, body.width, body.height)
	w.Draw(screen)
	if r.a.overlay != nil {
		r.a.overlay.draw(body)
	}
	if r.a.prompt != nil {
		r.a.prompt.draw(above, r.a.theme)
	} else {
		r.drawStatus(above)
	}
	r.drawButtons(c.part(0, above.height, c.width, len(buttons)), buttons)
}

// handle handles an event of the terminal.
func (r *root) handle(e tcell.Event) {
	switch e := e.(type) {
	case *tcell.EventKey:
		if !r.pasting {
			r.a.key(e)
			return
		}
		switch e.Key() {
		case tcell.KeyRune:
			r.pasted.WriteRune(e.Rune())
		case tcell.KeyEnter:
			r.pasted.WriteRune('\n')
		case tcell.KeyTab:
			r.pasted.WriteRune('\t')
		}
	case *tcell.EventPaste:
		r.pasting = e.Start()
		if e.End() {
			r.paste(r.pasted.String())
		}
		r.pasted.Reset()
	case *tcell.EventMouse:
		for _, action := range r.pointer.actions(e) {
			r.mouse(action, e)
		}
	}
}

// paste accepts text only if a prompt is open. Otherwise each character would
// act as a key.
func (r *root) paste(text string) {
	if r.a.prompt != nil {
		r.a.prompt.insert(text)
	}
}

// mouse passes clicks to the tabs and buttons, and all else to the overlay or
// the active window.
func (r *root) mouse(action tview.MouseAction, e *tcell.EventMouse) {
	x, y := e.Position()
	action = r.sameCell(action, x, y)
	if action == tview.MouseLeftClick || action == tview.MouseLeftDoubleClick {
		for _, g := range r.regions {
			if y == g.y && x >= g.from && x < g.to {
				r.a.message = message{}
				g.do()
				return
			}
		}
	}
	if o := r.a.overlay; o != nil {
		wheeled(action, o.scroll)
		switch action {
		case tview.MouseLeftClick, tview.MouseLeftDoubleClick:
			if c, ok := o.(clickable); ok {
				c.click(x, y)
			} else {
				r.a.overlay = nil
			}
		}
		return
	}
	if handle := r.a.window().MouseHandler(); handle != nil {
		handle(action, e, func(tview.Primitive) {})
	}
}

// wheelLines is the number of lines for one step of the wheel.
const wheelLines = 3

// wheeled calls move if an action is a step of the wheel, and reports whether it
// is.
func wheeled(action tview.MouseAction, move func(by int)) bool {
	switch action {
	case tview.MouseScrollUp:
		move(-wheelLines)
	case tview.MouseScrollDown:
		move(wheelLines)
	default:
		return false
	}
	return true
}

// sameCell turns a double click into a click unless both clicks were on the
// same cell.
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
