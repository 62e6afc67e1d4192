// Package caret points at a mistake in a line.
package caret

import "strings"

// Under returns the line and, in the line below it, a caret under the character at the given byte offset; both are
// indented by four blanks. Tabs before the character stay tabs, so that a terminal shows the caret below the character.
func Under(line string, offset int) string {
	var b strings.Builder
	b.WriteString("    " + line + "\n    ")
	for i, r := range line {
		if i >= offset {
			break
		}
		if r == '\t' {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String() + "^"
}
