package tui

import (
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
)

// A canvas is a part of the screen, with its own coordinates.
// Nothing is drawn outside of a canvas.
type canvas struct {
	screen        tcell.Screen
	x, y          int
	width, height int
}

// part returns the canvas of a rectangle, cut to the part that
// is on the canvas.
func (c canvas) part(x, y, width, height int) canvas {
	x, y = min(max(x, 0), c.width), min(max(y, 0), c.height)
	return canvas{c.screen, c.x + x, c.y + y, max(0, min(width, c.width-x)),
		max(0, min(height, c.height-y))}
}

// has reports whether a cell of the screen is on the canvas, and
// returns its position there.
func (c canvas) has(x, y int) (column, line int, ok bool) {
	column, line = x-c.x, y-c.y
	return column, line, column >= 0 && column < c.width && line >= 0 && line < c.height
}

// text draws a text from a column on, as far as it fits, and
// returns the column behind it. Control characters are escaped,
// never interpreted.
func (c canvas) text(x, y int, s string, style tcell.Style) int {
	if y < 0 || y >= c.height {
		return x + textWidth(s)
	}
	state := -1
	for s = printable(s); s != ""; {
		var cluster string
		var width int
		cluster, s, width, state = uniseg.FirstGraphemeClusterInString(s, state)
		if x >= 0 && x+width <= c.width {
			c.screen.Put(c.x+x, c.y+y, cluster, style)
		}
		x += width
	}
	return x
}

// line draws a text on a line, between blanks. It cuts a long text.
func (c canvas) line(y int, s string, style tcell.Style) {
	c.text(1, y, termtext.Cut(printable(s), c.width-2), style)
}

// lines draws texts on lines from y on, as line does.
func (c canvas) lines(y int, texts []string, style tcell.Style) {
	for i, text := range texts {
		c.line(y+i, text, style)
	}
}

// bar draws a title on the first line, as a bar.
func (c canvas) bar(title string, t *theme) {
	c.fill(0, t.bar)
	c.text(1, 0, termtext.Cut(title, c.width-1), t.bar)
}

// badge draws a text at the right end of the first line, and
// returns the rest of the line.
func (c canvas) badge(text string, style tcell.Style) canvas {
	left := max(0, c.width-textWidth(text))
	c.text(left, 0, text, style)
	return c.part(0, 0, left, 1)
}

// fill draws one line in one style.
func (c canvas) fill(y int, style tcell.Style) {
	if y < 0 || y >= c.height {
		return
	}
	for x := range c.width {
		c.screen.Put(c.x+x, c.y+y, " ", style)
	}
}

// clear empties the canvas.
func (c canvas) clear(style tcell.Style) {
	for y := range c.height {
		c.fill(y, style)
	}
}

// textWidth returns the number of columns that a text needs.
func textWidth(s string) int { return uniseg.StringWidth(printable(s)) }

const ellipsis = "…"

// maxShown is the greatest number of bytes of a text that are
// read for drawing. A name can have a million, and every key
// redraws it.
const maxShown = 8 << 10

// printable returns a text in a form that is safe for the
// screen. It cuts a very long text.
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
