package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/report"
	"golang.org/x/term"
)

// Control sequences that every present terminal knows (ECMA-48, and xterm's private modes).
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l" // the alternate screen, no cursor, no wrapped lines
	emptyScreen = "\x1b[H\x1b[J"
	leaveScreen = emptyScreen + "\x1b[?7h\x1b[?25h\x1b[?1049l" // cleared first, since tmux keeps lines of a screen that was resized
)

// A screen shows a Top again and again: in place on a terminal, as one block after another elsewhere.
type screen struct {
	t       terminal
	live    bool
	blocks  int           // number of blocks printed, if not live
	quit    chan struct{} // closed when a person presses q or Ctrl-C
	restore func()
}

// openScreen takes over the terminal, if there is one, until the screen is closed.
func openScreen(t terminal) (*screen, error) {
	s := &screen{t: t, live: t.outIsTerminal && os.Getenv("TERM") != "dumb", quit: make(chan struct{}), restore: func() {}}
	if !s.live {
		return s, nil
	}
	if keys, ok := t.in.(*os.File); ok && t.inIsTerminal {
		before, err := term.MakeRaw(int(keys.Fd()))
		if err != nil {
			return nil, fmt.Errorf("reading keys: %w", err)
		}
		s.restore = func() { _ = term.Restore(int(keys.Fd()), before) }
		go s.readKeys(keys)
	}
	if _, err := io.WriteString(t.out, enterScreen); err != nil {
		s.restore()
		return nil, err
	}
	return s, nil
}

// close restores the terminal.
func (s *screen) close() {
	if s.live {
		_, _ = io.WriteString(s.t.out, leaveScreen)
	}
	s.restore()
}

// readKeys waits for q or Ctrl-C. While keys are read one by one, Ctrl-C is a key and sends no signal.
func (s *screen) readKeys(keys io.Reader) {
	const ctrlC = 3
	var key [1]byte
	for {
		if _, err := keys.Read(key[:]); err != nil {
			return
		}
		if key[0] == 'q' || key[0] == 'Q' || key[0] == ctrlC {
			close(s.quit)
			return
		}
	}
}

// show shows as much of a Top as fits.
func (s *screen) show(top *report.Top) error {
	top.Color = s.t.outIsTerminal && !s.t.noColor
	if !s.live {
		if s.blocks++; s.blocks > 1 {
			if _, err := termtext.Fprintln(s.t.out); err != nil {
				return err
			}
		}
		return top.Write(s.t.out)
	}
	if out, ok := s.t.out.(*os.File); ok {
		if width, height, err := term.GetSize(int(out.Fd())); err == nil {
			top.Width, top.Height = width, height
		}
	}
	top.Hint = "R running  L, P ready to run  M waiting for a lock  W waiting; q ends"
	return s.draw(top.Lines())
}

// draw writes lines to the screen in one write, so that it doesn't flicker. If the screen isn't live, it does nothing. It
// clears the whole screen first. To clear the rest of each line instead would be wrong: after a line as wide as the screen,
// the cursor is on the line's last character.
func (s *screen) draw(lines []string) error {
	if !s.live {
		return nil
	}
	_, err := io.WriteString(s.t.out, emptyScreen+strings.Join(lines, "\r\n"))
	return err
}
