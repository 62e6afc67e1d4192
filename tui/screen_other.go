//go:build !unix

package tui

import "github.com/gdamore/tcell/v2"

// newScreen returns a screen on the terminal of this process.
func newScreen() (tcell.Screen, *tty, error) {
	screen, err := tcell.NewScreen()
	return screen, nil, err
}
