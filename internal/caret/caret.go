// Package caret points at a mistake in a line.
package caret

import (
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/termtext"
)

// Under returns the line and, in the line below it, a caret
// under the character at the given byte offset; both are
// indented by four blanks, and printable. Tabs are shown as
// blanks.
func Under(line string, offset int) string {
	shown := func(s string) string { return termtext.Printable(strings.ReplaceAll(s, "\t", " ")) }
	before := utf8.RuneCountInString(shown(line[:min(offset, len(line))]))
	return "    " + shown(line) + "\n    " + strings.Repeat(" ", before) + "^"
}
