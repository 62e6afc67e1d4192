package tui

import (
	"time"

	"github.com/gdamore/tcell/v2"
)

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

// A pointer turns the mouse as the terminal reports it, a position and the
// buttons that are down, into actions.
type pointer struct {
	x, y         int // the last position
	down         bool
	downX, downY int       // the position at which the button was pressed last
	clicked      time.Time // the end of the last single click
}

// doubleClick is the longest time between the two clicks of a double click.
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
