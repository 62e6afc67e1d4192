package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/cpprof/cpprof/cmd/cpprof/shell"
	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/internal/words"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// converse lets a person search in the view that the flags
// choose, or else in the busiest classes.
func (f *findFlags) converse(t terminal, c *cobra.Command, path string, classes []string) error {
	if f.from < 0 {
		return usagef("--interactive=%d: want the number of a call sequence that find lists",
			f.from)
	}
	if len(classes) > 0 {
		if err := c.Flags().Set("thread", classes[0]); err != nil {
			return err
		}
		classes = classes[1:]
	}
	a, b, err := f.openViews(path)
	if err != nil {
		return err
	}
	p := profile(a, b)
	s := shell.New(p)
	s.Width = t.width()
	s.Next = f.nextTurn(c, path, classes)
	if t.inIsTerminal {
		heading(t.out, a, b)
	}
	if f.from > 0 {
		if err := f.begin(s, p, t.out); err != nil {
			return err
		}
	} else if t.inIsTerminal {
		termtext.Fprintln(t.out, "suggest lists functions to start with; help lists all commands.")
	}
	if !t.inIsTerminal {
		return script(s, t.in, t.out)
	}
	return converse(s, t)
}

// begin selects the call sequence that --interactive names.
func (f *findFlags) begin(s *shell.Shell, p *hotspots.Trees, out io.Writer) error {
	found := hotspots.Find(p,
		hotspots.FindOptions{Coverage: f.coverage.value, Max: f.from}).Bottlenecks
	if len(found) < f.from {
		return fmt.Errorf("--interactive=%d: find lists only %s here", f.from, report.Counted(len(found), "bottleneck"))
	}
	text, err := s.Exec("select " + words.Join(found[f.from-1].Summary.Path()))
	if err == nil {
		_, err = io.WriteString(out, text)
	}
	return err
}

// longestCommand is enough for a call sequence of a thousand names.
const longestCommand = 1 << 20

// script executes the lines of a script up to the first that
// fails. It writes the output of a line before it reads the next
// one, so that a program can react to the output.
func script(s *shell.Shell, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestCommand)
	number := 1
	for ; lines.Scan(); number++ {
		text, err := s.Exec(lines.Text())
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		io.WriteString(out, text)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", number, err)
	}
	return nil
}

const prompt = "> "

// converse executes the commands that a person types at a
// terminal. The person can edit lines there even if the output
// goes elsewhere.
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

// readLine lets a person edit a line. The terminal is in raw
// mode only during this call, so that Ctrl-C ends a command that
// takes too long.
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

// key is called for each key. For Tab, it replaces the word by
// the common prefix of its completions; if that prefix is not
// longer than the word, it lists the completions.
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
	common := words.CommonPrefix(candidates)
	switch {
	case len(candidates) == 1:
		common += " "
	case common == head[start:]:
		termtext.Fprintln(c.out, strings.Join(candidates, "  "))
	}
	return line[:start] + common + rest, start + len(common), true
}
