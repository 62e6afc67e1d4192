package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"golang.org/x/term"
)

// Control sequences that every present terminal knows (ECMA-48, and xterm's
// private modes).
const (
	// the alternate screen, no cursor, no wrapped lines
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	emptyScreen = "\x1b[H\x1b[J"
	// cleared first, since tmux keeps lines of a screen that was resized
	leaveScreen = emptyScreen + "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// A screen shows a Top again and again: in place on a terminal,
// as one block after another elsewhere.
type screen struct {
	t       terminal
	live    bool
	blocks  int           // number of blocks printed, if not live
	quit    chan struct{} // closed when a person presses q or Ctrl-C
	keys    chan rune     // the other keys
	restore func()
	order   report.TopOrder
	last    *report.Top // shown last; nil is none
	paused  bool        // the last Top stays
	help    bool        // the last line lists the keys
}

// openScreen takes over the terminal, if there is one, until the
// screen is closed.
func openScreen(t terminal) (*screen, error) {
	s := &screen{t: t, live: t.outIsTerminal && os.Getenv("TERM") != "dumb",
		quit: make(chan struct{}), keys: make(chan rune), restore: func() {}}
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

// readKeys passes keys on until q or Ctrl-C. While keys are read
// one by one, Ctrl-C is a key and sends no signal.
func (s *screen) readKeys(keys io.Reader) {
	const ctrlC = 3
	in := bufio.NewReader(keys)
	for {
		key, _, err := in.ReadRune()
		if err != nil {
			return
		}
		if key == 'q' || key == 'Q' || key == ctrlC {
			close(s.quit)
			return
		}
		s.keys <- key
	}
}

// press does what a key asks for, and draws the screen again if
// that changes it.
func (s *screen) press(key rune) error {
	switch {
	case key == ' ':
		s.paused = !s.paused
	case key == '?' || key == 'h':
		s.help = !s.help
	case !s.order.Press(key):
		return nil
	}
	if s.last == nil {
		return nil
	}
	return s.redraw()
}

// show shows as much of a Top as fits.
func (s *screen) show(top *report.Top) error {
	top.Color = s.t.color
	top.Order = s.order
	if !s.live {
		if err := s.nextBlock(); err != nil {
			return err
		}
		_, err := io.WriteString(s.t.out, strings.Join(top.Lines(), "\n")+"\n")
		return err
	}
	if s.paused {
		return nil
	}
	s.last = top
	return s.redraw()
}

// nextBlock separates a block from the one before.
func (s *screen) nextBlock() error {
	if s.blocks++; s.blocks == 1 {
		return nil
	}
	_, err := termtext.Fprintln(s.t.out)
	return err
}

// say shows a line of text in place of a Top.
func (s *screen) say(text string) error {
	s.last = nil
	if s.live {
		return s.draw([]string{termtext.Printable(text)})
	}
	if err := s.nextBlock(); err != nil {
		return err
	}
	_, err := termtext.Fprintln(s.t.out, text)
	return err
}

// redraw draws the last Top in the present order and size of the screen.
func (s *screen) redraw() error {
	top := s.last
	top.Order = s.order
	if out, ok := fileOf(s.t.out).(*os.File); ok {
		if width, height, err := term.GetSize(int(out.Fd())); err == nil {
			top.Width, top.Height = width, height
		}
	}
	top.Hint = s.hint()
	return s.draw(top.Lines())
}

// hint returns the last line: what the letters of the bars mean,
// or the keys.
func (s *screen) hint() string {
	text := "R running  L, P ready to run  M waiting for a lock  W waiting; ? keys  q ends"
	if s.help {
		text = "order: B busy A alive R L P M W C class < >  r reverse  i idle  Space pause  q ends"
	}
	if s.paused {
		text = "PAUSED (Space goes on)  " + text
	}
	return text
}

// draw writes lines to the screen in one write, so that it
// doesn't flicker. If the screen isn't live, it does nothing. It
// clears the whole screen first. To clear the rest of each line
// instead would be wrong: after a line as wide as the screen,
// the cursor is on the line's last character.
func (s *screen) draw(lines []string) error {
	if !s.live {
		return nil
	}
	_, err := io.WriteString(s.t.out, emptyScreen+strings.Join(lines, "\r\n"))
	return err
}
