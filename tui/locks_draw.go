package tui

import (
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/report"
	"github.com/gdamore/tcell/v2"
)

// A lockPane tells all of the selected item.
type lockPane struct {
	area  canvas // of the last drawing
	top   int    // the first line shown
	of    string // the item and the width that the lines are made for
	item  string // the item that was drawn last
	lines []string
}

// Draw draws the window: how much was waited for, the table, and all of the selected item.
func (w *lockWindow) Draw(screen tcell.Screen) {
	c := newCanvas(screen, w)
	c.clear(w.a.theme.plain)
	w.list, w.pane.area = canvas{}, canvas{}
	switch {
	case w.failed != nil:
		for y, line := range wrap(w.failed.Error(), c.width-2) {
			c.text(1, 1+y, line, w.a.theme.err)
		}
		return
	case w.found.Analysis == nil:
		c.text(1, 1, "Analysing the locks …", w.a.theme.dim)
		return
	}
	y := w.drawHead(c)
	if len(w.found.items) == 0 {
		return
	}
	list, pane := w.divide(c.part(0, y, c.width, c.height-y))
	w.drawList(list)
	w.drawPane(pane)
}

// divide gives the places of the table and of the details, which get what a short table above them leaves.
func (w *lockWindow) divide(c canvas) (list, pane canvas) {
	list, pane = divide(c)
	if needs := 1 + len(w.found.items); c.width < wideEnough && needs < list.height {
		list, pane = c.part(0, 0, c.width, needs), c.part(0, needs, c.width, c.height-needs)
	}
	return list, pane
}

// drawHead says how much was waited for locks, and gives the number of lines that this takes.
func (w *lockWindow) drawHead(c canvas) int {
	y := 0
	text := report.LockWaits(w.found.Analysis)
	if s := w.a.options.Span; s != zeroSpan {
		text += "; only " + spanText(s)
	}
	for _, line := range wrap(text, c.width-2) {
		c.text(1, y, line, w.a.theme.title)
		y++
	}
	if n := len(w.found.Deadlocks); n > 0 {
		c.fill(0, y, w.a.theme.err.Reverse(true))
		c.text(1, y, deadlockCount(n)+": goroutines that can never go on; g goes there", w.a.theme.err.Reverse(true))
		y++
	}
	if warnings := w.found.Held.Warnings; len(warnings) > 0 {
		text := fmt.Sprintf("! %s (%d in all, below the details)", warnings[0].Message, len(warnings))
		c.text(1, y, cut(report.Printable(text), c.width-2), w.a.theme.err)
		y++
	}
	return y
}

func deadlockCount(n int) string {
	if n == 1 {
		return "1 DEADLOCK"
	}
	return fmt.Sprintf("%d DEADLOCKS", n)
}

// drawList draws the table, as much of it as there is room for.
func (w *lockWindow) drawList(c canvas) {
	w.list = c.part(0, 1, c.width, c.height-1)
	place := max(w.place(), 0)
	w.top = max(min(w.top, place, len(w.found.items)-w.list.height), place-w.list.height+1, 0)
	c.fill(0, 0, w.a.theme.bar)
	drawLockRow(c.part(0, 0, c.width, 1), report.LockColumns, w.found.widths[:], w.a.theme.bar)
	drawScrolled(c, "", w.top, len(w.found.items)-w.top-w.list.height, w.a.theme.bar)
	for y := 0; y < w.list.height && w.top+y < len(w.found.items); y++ {
		item, line := w.found.items[w.top+y], w.list.part(0, y, c.width, 1)
		style := w.a.theme.plain
		if item.deadlock != nil {
			style = w.a.theme.err
		}
		if item.key == w.selected {
			style = w.a.theme.selected
			line.fill(0, 0, style)
		}
		if item.deadlock != nil {
			line.text(1, 0, cut(item.key, c.width-1), style)
		} else {
			drawLockRow(line, item.row, w.found.widths[:], style)
		}
		if item.key == w.selected {
			line.text(0, 0, "›", style)
		}
	}
}

// drawLockRow draws cells to the right end of their columns, the last one to the left.
func drawLockRow(c canvas, cells [lockColumns]string, widths []int, style tcell.Style) {
	x := 1
	for i, width := range widths {
		c.text(x+width-textWidth(cells[i]), 0, cells[i], style)
		x += width + 2
	}
	c.text(x, 0, shorten(cells[len(widths)], c.width-x), style)
}

// drawScrolled says at the right end of a bar how much there is above and below.
func drawScrolled(c canvas, how string, above, below int, style tcell.Style) {
	if above > 0 || below > 0 {
		text := fmt.Sprintf(" ▲%d ▼%d %s", above, max(below, 0), how)
		c.text(c.width-textWidth(text), 0, text, style)
	}
}

// drawPane draws all of the selected item.
func (w *lockWindow) drawPane(c canvas) {
	p, item := &w.pane, w.item()
	if item == nil {
		return
	}
	c.fill(0, 0, w.a.theme.bar)
	c.text(1, 0, "Details", w.a.theme.bar)
	body := c.part(1, 1, c.width-1, c.height-1)
	p.area = body
	if p.item != item.key {
		p.item, p.top = item.key, 0
	}
	if of := fmt.Sprint(body.width, item.key); p.of != of {
		p.of, p.lines = of, hang(w.text(item, body.width), body.width)
	}
	p.top = max(0, min(p.top, len(p.lines)-body.height))
	drawScrolled(c, "J K scroll ", p.top, len(p.lines)-p.top-body.height, w.a.theme.bar)
	for y, line := range p.lines[p.top:min(len(p.lines), p.top+body.height)] {
		style := w.a.theme.plain
		switch {
		case p.top+y == 0 && item.deadlock != nil:
			style = w.a.theme.err
		case p.top+y == 0:
			style = w.a.theme.bold
		}
		body.text(0, y, line, style)
	}
}

// hang divides a text into printable lines of a width, each indented as what it continues, behind its hits.
func hang(text string, width int) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		indent := len(line) - len(strings.TrimLeft(line, " .0123456789"))
		if indent > width/2 {
			indent = 0
		}
		for i, part := range wrap(line[indent:], width-indent) {
			head := line[:indent]
			if i > 0 {
				head = strings.Repeat(" ", indent)
			}
			lines = append(lines, head+part)
		}
	}
	return lines
}
