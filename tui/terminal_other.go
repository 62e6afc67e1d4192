//go:build !unix

package tui

import "github.com/gdamore/tcell/v2"

// newScreen returns a screen on the terminal of this process.
func newScreen() (tcell.Screen, *tty, error) {
	screen, err := tcell.NewScreen()
	return screen, nil, err
}

// canSuspend reports whether this system has the signals that
// stop and continue a process.
const canSuspend = false

func stop() error { return nil }
