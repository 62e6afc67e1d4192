//go:build unix

package tui

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

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

// stoppable is the longest time until the signal to stop takes effect.
const stoppable = time.Second

// canSuspend reports whether this system has the signals that
// stop and continue a process.
const canSuspend = true

// stop stops the processes of the terminal's foreground, as
// Ctrl-Z does, until the shell continues them. If there is no
// shell that could continue them, the system ignores the signal,
// and stop returns an error.
func stop() error {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if err := syscall.Kill(0, syscall.SIGTSTP); err != nil {
		return err
	}
	select {
	case <-continued: // the signal may stop this process only a moment after Kill
		return nil
	case <-time.After(stoppable):
	}
	select {
	case <-continued: // this process was stopped for longer than that
		return nil
	default:
		return errors.New("there is no shell that could continue it")
	}
}
