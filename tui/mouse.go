package tui

import (
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// A pointer turns the mouse as the terminal reports it, a position and the
// buttons that are down, into actions.
type pointer struct {
	x, y         int // the last position
	buttons      tcell.ButtonMask
	downX, downY int       // the position at which a button was pressed last
	clicked      time.Time // the end of the last single click
}

// doubleClick is the longest time between the two clicks of a double click.
const doubleClick = 500 * time.Millisecond

// pointerButtons have the actions of each button: pressed, released, clicked
// and double-clicked.
var pointerButtons = []struct {
	button                      tcell.ButtonMask
	down, up, click, clickTwice tview.MouseAction
}{
	{tcell.ButtonPrimary, tview.MouseLeftDown, tview.MouseLeftUp, tview.MouseLeftClick,
		tview.MouseLeftDoubleClick},
	{tcell.ButtonMiddle, tview.MouseMiddleDown, tview.MouseMiddleUp, tview.MouseMiddleClick,
		tview.MouseMiddleDoubleClick},
	{tcell.ButtonSecondary, tview.MouseRightDown, tview.MouseRightUp, tview.MouseRightClick,
		tview.MouseRightDoubleClick},
}

var pointerWheels = []struct {
	button tcell.ButtonMask
	action tview.MouseAction
}{
	{tcell.WheelUp, tview.MouseScrollUp},
	{tcell.WheelDown, tview.MouseScrollDown},
	{tcell.WheelLeft, tview.MouseScrollLeft},
	{tcell.WheelRight, tview.MouseScrollRight},
}

// actions returns what the user did between the last event and this one.
func (p *pointer) actions(e *tcell.EventMouse) []tview.MouseAction {
	var all []tview.MouseAction
	x, y := e.Position()
	buttons := e.Buttons()
	if x != p.x || y != p.y {
		all = append(all, tview.MouseMove)
	}
	pressed := false
	for _, b := range pointerButtons {
		switch {
		case (buttons^p.buttons)&b.button == 0:
		case buttons&b.button != 0:
			all = append(all, b.down)
			pressed = true
		case x != p.downX || y != p.downY:
			all = append(all, b.up)
		case time.Since(p.clicked) > doubleClick:
			all = append(all, b.up, b.click)
			p.clicked = time.Now()
		default:
			all = append(all, b.up, b.clickTwice)
			p.clicked = time.Time{}
		}
	}
	for _, w := range pointerWheels {
		if buttons&w.button != 0 {
			all = append(all, w.action)
		}
	}
	p.x, p.y, p.buttons = x, y, buttons
	if pressed {
		p.downX, p.downY = x, y
	}
	return all
}
