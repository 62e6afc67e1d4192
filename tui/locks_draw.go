package tui

import (
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/views/locks"
	"github.com/gdamore/tcell/v2"
)

// A lockText is the information on the selected item, in lines of a width.
type lockText struct {
	of    string // the item and the width
	lines []textLine
}

// draw draws the window: the total waiting time, the table, and
// the information on the selected item.
func (w *lockWindow) draw(c canvas) {
	w.hide()
	if !w.drawReady(c, "Analysing the locks …") {
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

// divide returns the parts of the table and of the details. A
// short table leaves the rest to the details below it.
func (w *lockWindow) divide(c canvas) (list, pane canvas) {
	list, pane = divide(c)
	if needs := 1 + len(w.found.items); c.width < wideEnough && needs < list.height {
		list, pane = c.part(0, 0, c.width, needs), c.part(0, needs, c.width, c.height-needs)
	}
	return list, pane
}

// drawHead draws how much goroutines waited for locks, and
// returns the number of its lines.
func (w *lockWindow) drawHead(c canvas) int {
	text := report.LockWaits(w.found.Analysis)
	if w.found.both != nil {
		text = fmt.Sprintf("old: %s, %s  new: %s", w.a.against,
			report.LockWaits(w.found.both.Old), text)
	} else if w.found.By == locks.ByInstance {
		text += "; each instance by itself"
	}
	if shared := report.SharedWaits(w.found.Analysis); shared != "" && w.found.both == nil {
		text += "; " + shared
	}
	if s := w.a.options.Span; s != zeroSpan {
		text += "; only " + spanText(s)
	}
	lines := wrap(text, c.width-2)
	c.lines(0, lines, w.a.theme.title)
	y := len(lines)
	if n := len(w.found.Deadlocks); n > 0 {
		c.fill(y, w.a.theme.err.Reverse(true))
		c.text(1, y, deadlockCount(n)+": goroutines that can never continue; g selects it",
			w.a.theme.err.Reverse(true))
		y++
	}
	if warnings := w.found.Held.Warnings; len(warnings) > 0 {
		text := fmt.Sprintf("! %s (%d in all, below the details)", warnings[0].Message,
			len(warnings))
		c.line(y, text, w.a.theme.err)
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

// drawList draws the lines of the table that fit.
func (w *lockWindow) drawList(c canvas) {
	first, last := w.list.inSight(c.part(0, 1, c.width, c.height-1))
	c.fill(0, w.a.theme.bar)
	drawLockRow(c.part(0, 0, c.width, 1), w.found.heads, w.found.widths, w.a.theme.bar)
	w.list.drawMore(c, w.a.theme)
	w.list.draw(first, last, w.a.theme, w.drawItem)
}

func (w *lockWindow) drawItem(c canvas, i int, style tcell.Style) {
	item := &w.found.items[i]
	if item.deadlock != nil {
		if i != w.list.at {
			style = w.a.theme.err
		}
		c.text(1, 0, termtext.Cut(item.key, c.width-1), style)
	} else {
		drawLockRow(c, item.row, w.found.widths, style)
	}
}

// drawLockRow draws cells right-aligned in their columns, and the last one
// left-aligned.
func drawLockRow(c canvas, cells []string, widths []int, style tcell.Style) {
	x := 1
	for i, width := range widths {
		c.text(x+width-textWidth(cells[i]), 0, cells[i], style)
		x += width + 2
	}
	c.text(x, 0, shorten(cells[len(widths)], c.width-x), style)
}

// drawPane draws the information on the selected item.
func (w *lockWindow) drawPane(c canvas) {
	item := w.item()
	if item == nil {
		return
	}
	if of := fmt.Sprint(c.width, item.key); w.text.of != of {
		w.text = lockText{of: of}
		style := w.a.theme.bold
		if item.deadlock != nil {
			style = w.a.theme.err
		}
		for _, line := range hang(w.about(item, c.width-1), c.width-1) {
			w.text.lines = append(w.text.lines, textLine{line, style})
			style = w.a.theme.plain
		}
	}
	w.pane.draw(c, w.a.theme, "Details", item.key, w.text.lines)
}

// hang wraps a text into printable lines of a width. It indents
// each further line to the text behind the hits.
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
