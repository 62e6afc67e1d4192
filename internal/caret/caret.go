// Package caret points at a mistake in a line.
package caret

import (
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/termtext"
)

// An Error says what is wrong with a text, and at which position.
type Error struct {
	What   string // begins the message, such as "pattern: "; may be empty
	Msg    string
	Text   string
	Offset int // in bytes
}

// Error returns the message, the text, and a line with a caret
// below the position.
func (e *Error) Error() string {
	return e.What + termtext.Printable(e.Msg) + "\n" + Under(e.Text, e.Offset)
}

// TerminalText returns the message, which is printable.
func (e *Error) TerminalText() string { return e.Error() }

// Under returns the line and, in the line below it, a caret
// under the character at the given byte offset; both are
// indented by four blanks, and printable. Tabs are shown as
// blanks.
func Under(line string, offset int) string {
	shown := func(s string) string { return termtext.Printable(strings.ReplaceAll(s, "\t", " ")) }
	before := utf8.RuneCountInString(shown(line[:min(offset, len(line))]))
	return "    " + shown(line) + "\n    " + strings.Repeat(" ", before) + "^"
}
