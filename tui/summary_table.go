package tui

import (
	"fmt"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// A heading is the line of the columns' names on the screen.
type heading struct {
	place  canvas
	widths []int // of the columns; 0 for those that are left out
}

// columnAt returns the column at a cell of the screen, or -1 for none.
func (h *heading) columnAt(x, y int) int {
	x, _, inside := h.place.has(x, y)
	for column, width := range h.widths {
		if x -= width; inside && x < 0 {
			return column
		}
	}
	return -1
}

// shows reports whether a column has a place on the screen.
// Before the first drawing, every column has.
func (h *heading) shows(column int) bool {
	return len(h.widths) == 0 || h.widths[column] > 0
}

// measure returns the widths that the columns of numbers need.
func measure(classes []views.ClassPair, columns []classColumn) []int {
	widest := make([]int, len(columns))
	for column, c := range columns {
		for i := range classes {
			if c.text != nil {
				widest[column] = max(widest[column], len(c.text(&classes[i])))
			}
		}
	}
	return widest
}

// columnWidths returns the columns' widths in a table, including
// a blank before each; 0 for those that do not fit. widest has
// the width of the widest number of each column.
func columnWidths(columns []classColumn, widest []int, table int) []int {
	widths := make([]int, len(columns))
	most := 0 // the greatest leave
	for i, c := range columns {
		widths[i] = 1 + max(textWidth(c.name)+1, widest[i]) // with the arrow
		if c.width != nil {
			widths[i] = c.width(table)
		}
		most = max(most, c.leave)
	}
	for leave := 1; leave <= most && sum(widths) > table; leave++ {
		for i, c := range columns {
			if c.leave == leave {
				widths[i] = 0
			}
		}
	}
	last := len(widths) - 1
	widths[last] = 0
	widths[last] = max(1, table-sum(widths))
	return widths
}

func sum(numbers []int) (s int) {
	for _, n := range numbers {
		s += n
	}
	return s
}

// drawTable draws the classes that fit, and the details of the
// selected one.
func (w *summaryWindow) drawTable(c canvas) {
	details := wrap(w.details(), c.width-2)
	details = details[:min(len(details), max(1, c.height-2))]
	widths := columnWidths(w.columns, w.widest, c.width)
	w.drawHeading(c.part(0, 0, c.width, 1), widths)
	first, last := w.list.inSight(c.part(0, 1, c.width, c.height-1-len(details)))
	w.list.draw(first, last, w.a.theme, func(c canvas, i int, style tcell.Style) {
		w.drawClass(c, &w.classes[i], style, widths)
	})
	c.lines(c.height-len(details), details, w.a.theme.dim)
}

func (w *summaryWindow) drawHeading(c canvas, widths []int) {
	c.fill(0, w.a.theme.bar)
	w.heading = heading{c, widths}
	x, sorted := 0, w.order.of(w.columns)
	for i, width := range widths {
		if width == 0 {
			continue
		}
		name, style := w.columns[i].name, w.a.theme.bar
		if i == sorted {
			name, style = name+w.order.arrow(w.columns), style.Bold(true)
		}
		if w.columns[i].text == nil {
			c.text(x+1, 0, name, style)
		} else {
			c.text(x+width-textWidth(name), 0, name, style)
		}
		x += width
	}
}

func (w *summaryWindow) drawClass(c canvas, class *views.ClassPair, style tcell.Style, widths []int) {
	if w.marked[class.Class] {
		c.text(0, 0, report.LabelMark, w.a.theme.key)
	}
	x := 0
	for i, width := range widths {
		column := &w.columns[i]
		switch {
		case width == 0:
		case column.text != nil:
			text := column.text(class)
			c.text(x+width-textWidth(text), 0, text, style)
		default:
			column.draw(c.part(x+1, 0, width-1, 1), class, w.a.theme, style)
		}
		x += width
	}
}

// details returns information on the selected class that the
// table may have no room for.
func (w *summaryWindow) details() string {
	line := w.list.current()
	if line < 0 {
		return strings.TrimPrefix(w.hidden(), "\n")
	}
	if w.compared {
		return report.ClassCompared(&w.classes[line]) + w.hidden()
	}
	c := w.classes[line].New
	if w.a.recording.Profile != nil {
		return c.Class + w.hidden()
	}
	text := fmt.Sprintf("%s: %s, %s, %s alive on average", c.Class,
		report.Counted(c.Goroutines, "goroutine"), report.Counted(c.Hits, "hit"),
		report.Decimal(c.MeanAlive, 1))
	if c.Parts[views.Monitor].Sign() > 0 {
		text += fmt.Sprintf("\nof its MONITOR time %s is attributed to holders of the locks",
			report.Attributed(c.Parts[views.Monitor], c.Attributed.Weight))
	}
	return text + w.hidden()
}

// draw draws the window: head, timeline, table; and, while the
// keys are the timeline's, lanes below it.
func (w *summaryWindow) draw(c canvas) {
	y := w.drawHead(c)
	height := min(max((c.height-9)/3, 1), maxGraph) + timelineBars
	w.timeline.draw(c.part(0, y, c.width, height))
	y += height
	room := w.timeline.lanes.room(c.height - y)
	w.timeline.lanes.draw(c.part(0, y, c.width, room))
	y += room
	w.drawTable(c.part(0, y, c.width, c.height-y))
}
