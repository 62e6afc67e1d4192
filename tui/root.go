package tui

import (
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"
)

// A root is the whole screen: the tabs, the active window, the
// status line and the buttons.
type root struct {
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

func newRoot(a *app) *root { return &root{a: a, clicked: [2]int{-1, -1}} }

// draw draws the whole screen.
func (r *root) draw(c canvas) {
	r.a.screen.Fill(' ', r.a.theme.plain)
	r.regions = r.regions[:0]
	r.drawTabs(c.part(0, 0, c.width, 1))
	buttons := r.buttons(c.width, c.height)
	above := c.part(0, 0, c.width, c.height-len(buttons)) // with the status in its last line
	body := c.part(0, 1, c.width, above.height-2)
	r.a.window().draw(body)
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
		if e.End() && r.a.prompt != nil {
			r.a.prompt.insert(r.pasted.String())
		}
		r.pasted.Reset()
	case *tcell.EventMouse:
		for _, action := range r.pointer.actions(e) {
			x, y := e.Position()
			r.mouse(action, x, y)
		}
	}
}

// mouse passes clicks to the tabs and buttons, and all else to
// the overlay or the active window.
func (r *root) mouse(action mouseAction, x, y int) {
	action = r.sameCell(action, x, y)
	clicks := action == mouseClick || action == mouseDoubleClick
	if clicks {
		for _, g := range r.regions {
			if y == g.y && x >= g.from && x < g.to {
				r.a.message = message{}
				g.do()
				return
			}
		}
	}
	if o := r.a.overlay; o != nil {
		if !wheeled(action, o.scroll) && clicks {
			o.click(x, y)
		}
		return
	}
	r.a.window().mouse(action, x, y)
}

// wheelLines is the number of lines for one step of the wheel.
const wheelLines = 3

// wheeled calls move if an action is a step of the wheel, and
// reports whether it is.
func wheeled(action mouseAction, move func(by int)) bool {
	switch action {
	case wheelUp:
		move(-wheelLines)
	case wheelDown:
		move(wheelLines)
	default:
		return false
	}
	return true
}

// sameCell turns a double click into a click unless both clicks
// were on the same cell.
func (r *root) sameCell(action mouseAction, x, y int) mouseAction {
	at := [2]int{x, y}
	if action == mouseDoubleClick && r.clicked != at {
		action = mouseClick
	}
	if action == mouseClick {
		r.clicked = at
	}
	return action
}

// A mouseAction is what a person does with the mouse.
type mouseAction uint8

const (
	mouseMove mouseAction = iota // without the left button
	mouseDrag                    // while it is down
	mouseDown                    // of the left button, as all that follow
	mouseUp
	mouseClick
	mouseDoubleClick
	wheelUp
	wheelDown
)

// A pointer turns the mouse as the terminal reports it, a
// position and the buttons that are down, into actions.
type pointer struct {
	x, y         int // the last position
	down         bool
	downX, downY int       // the position at which the button was pressed last
	clicked      time.Time // the end of the last single click
}

// doubleClick is the longest time between the two clicks of a
// double click.
const doubleClick = 500 * time.Millisecond

// actions returns what the user did between the last event and this one.
func (p *pointer) actions(e *tcell.EventMouse) (all []mouseAction) {
	x, y := e.Position()
	down := e.Buttons()&tcell.ButtonPrimary != 0
	switch moved := x != p.x || y != p.y; {
	case moved && down:
		all = append(all, mouseDrag)
	case moved:
		all = append(all, mouseMove)
	}
	switch {
	case down == p.down:
	case down:
		all = append(all, mouseDown)
		p.downX, p.downY = x, y
	case x != p.downX || y != p.downY:
		all = append(all, mouseUp)
	case time.Since(p.clicked) > doubleClick:
		all = append(all, mouseUp, mouseClick)
		p.clicked = time.Now()
	default:
		all = append(all, mouseUp, mouseDoubleClick)
		p.clicked = time.Time{}
	}
	if e.Buttons()&tcell.WheelUp != 0 {
		all = append(all, wheelUp)
	}
	if e.Buttons()&tcell.WheelDown != 0 {
		all = append(all, wheelDown)
	}
	p.x, p.y, p.down = x, y, down
	return all
}
