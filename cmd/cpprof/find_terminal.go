package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/cpprof/cpprof/cmd/cpprof/shell"
	"github.com/cpprof/cpprof/internal/termtext"
	"golang.org/x/term"
)

const prompt = "> "

// converse executes the commands that a person types at a terminal. The
// person can edit lines there even if the output goes elsewhere.
func converse(s *shell.Shell, t terminal) error {
	in, ok := t.in.(*os.File)
	if !ok {
		return script(s, t.in, t.out)
	}
	screen := t.out
	if !t.outIsTerminal {
		tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
		if err != nil {
			return script(s, t.in, t.out)
		}
		defer tty.Close()
		screen = tty
	}
	line := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{t.in, screen}, prompt)
	complete := completion{s, line}
	line.AutoCompleteCallback = complete.key
	for {
		text, err := readLine(line, int(in.Fd()))
		if errors.Is(err, io.EOF) {
			termtext.Fprintln(screen)
			return nil
		}
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			return err
		}
		said, err := s.Exec(text)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			said = fmt.Sprintf("error: %v\n", err)
		}
		io.WriteString(t.out, said)
	}
}

// readLine lets a person edit a line. The terminal is in raw mode only during
// this call, so that Ctrl-C ends a command that takes too long.
func readLine(line *term.Terminal, fd int) (string, error) {
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("preparing the terminal: %w", err)
	}
	defer term.Restore(fd, before)
	if width, height, err := term.GetSize(fd); err == nil && width > 0 && height > 0 {
		_ = line.SetSize(width, height)
	}
	return line.ReadLine()
}

// A completion completes the word at the cursor.
type completion struct {
	session *shell.Shell
	out     io.Writer // writes above the line that is being edited
}

// key is called for each key. For Tab, it replaces the word by the common
// prefix of its completions; if that prefix is not longer than the word, it
// lists the completions.
func (c completion) key(line string, pos int, key rune) (string, int, bool) {
	if key != '\t' {
		return "", 0, false
	}
	head, rest := line[:pos], line[pos:]
	candidates := c.session.Complete(head)
	if len(candidates) == 0 {
		return line, pos, true
	}
	start := strings.LastIndexFunc(head, unicode.IsSpace) + 1
	common := commonPrefix(candidates)
	switch {
	case len(candidates) == 1:
		common += " "
	case common == head[start:]:
		termtext.Fprintln(c.out, strings.Join(candidates, "  "))
	}
	return line[:start] + common + rest, start + len(common), true
}

func commonPrefix(words []string) string {
	common := []rune(words[0])
	for _, w := range words[1:] {
		n := 0
		for _, r := range w {
			if n == len(common) || common[n] != r {
				break
			}
			n++
		}
		common = common[:n]
	}
	return string(common)
}
