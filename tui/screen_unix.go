//go:build unix

package tui

import (
	"os"

	"github.com/gdamore/tcell/v2"
)

// newScreen returns a screen on the terminal of this process.
func newScreen() (tcell.Screen, *tty, error) {
	info, err := terminalOf(os.Getenv("TERM"))
	if err != nil {
		return nil, nil, err
	}
	device, err := tcell.NewDevTty()
	if err != nil {
		return nil, nil, err
	}
	own := newTTY(device)
	screen, err := tcell.NewTerminfoScreenFromTtyTerminfo(own, info)
	return screen, own, err
}
