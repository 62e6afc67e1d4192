package tui

import (
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/termtext"
)

const ellipsis = "…"

// maxShown is the greatest number of bytes of a text that are read for drawing.
// A name can have a million, and every key redraws it.
const maxShown = 8 << 10

// printable returns a text in a form that is safe for the screen. It cuts a
// very long text.
func printable(s string) string {
	if len(s) <= maxShown {
		return termtext.Printable(s)
	}
	end := maxShown
	for end > maxShown-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return termtext.Printable(s[:end]) + ellipsis
}

// shorten makes a name fit a width, see termtext.Shorten.
func shorten(name string, width int) string { return termtext.Shorten(printable(name), width) }

// wrap splits text into printable lines of a width, at blanks if possible.
func wrap(text string, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		line = printable(line)
		for width > 1 && !termtext.Fits(line, width) {
			head, rest := termtext.SplitAt(line, width)
			if i := strings.LastIndexByte(head, ' '); i > len(head)/2 && rest[0] != ' ' {
				head, rest = head[:i], line[i:]
			}
			lines = append(lines, head)
			line = strings.TrimLeft(rest, " ")
		}
		lines = append(lines, line)
	}
	return lines
}
