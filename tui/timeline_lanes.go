package tui

import (
	"fmt"
	"math"
	"strings"

	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// Lanes show the series of the recording below the timeline while its keys are active: a line with the title, and a line
// with the values, in the columns of the graph.
const (
	laneLines  = 2
	leastTable = 6 // lines that remain for the table of classes
)

// laneRoom returns how many of the lines below the graph are for lanes.
func (t *timeline) laneRoom(height int) int {
	if !t.active {
		return 0
	}
	return laneLines * min(len(t.lanes), max(0, height-leastTable)/laneLines)
}

// scroll scrolls the lanes.
func (t *timeline) scroll(by int) { t.firstLane += by }

// drawLanes draws as many lanes as fit.
func (t *timeline) drawLanes(c canvas) {
	shown := c.height / laneLines
	if shown == 0 {
		return
	}
	t.firstLane = min(max(0, t.firstLane), len(t.lanes)-shown)
	note := ""
	if shown < len(t.lanes) {
		note = fmt.Sprintf("%d to %d of %d series: j k", t.firstLane+1, t.firstLane+shown, len(t.lanes))
	}
	for i := range shown {
		t.drawLane(c.part(0, laneLines*i, c.width, laneLines), &t.lanes[t.firstLane+i], note)
		note = ""
	}
}

// drawLane draws one lane, with a note behind its title.
func (t *timeline) drawLane(c canvas, lane *views.Lane, note string) {
	slices := t.slices(t.place.width)
	columns := laneColumns(lane, t.place.width)
	if len(columns) == 0 {
		return
	}
	low, high := laneRange(lane, columns)
	right := c.width - 1 - textWidth(note)
	c.text(right, 0, note, t.a.theme.dim)
	c.part(1, 0, right-2, 1).text(0, 0, laneTitle(lane, low, high, columns[columnOf(slices, t.cursor)]), t.a.theme.plain)
	first, last, some := t.marked(slices)
	for x, cell := range columns {
		style := t.a.theme.plain.Dim(some && (x < first || x > last))
		c.text(1+x, 1, laneCell(lane, cell, low, high), style)
	}
}

// laneColumns returns the cells of a lane for the columns of a width.
func laneColumns(lane *views.Lane, width int) []views.LaneCell {
	n := len(lane.Cells)
	width = min(width, n)
	list := make([]views.LaneCell, width)
	for i := range list {
		for _, cell := range lane.Cells[i*n/width : (i+1)*n/width] {
			list[i] = list[i].Add(cell)
		}
	}
	return list
}

// laneRange returns the lowest and highest value of a lane; for a counter, the lowest is 0.
func laneRange(lane *views.Lane, columns []views.LaneCell) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	if lane.Kind == sampledata.Counter {
		low, high = 0, 0
	}
	for _, cell := range columns {
		if x, ok := cell.Value(); ok {
			low, high = min(low, x), max(high, x)
		}
	}
	return low, high
}

// laneTitle returns the title of a lane, with its value at the cursor.
func laneTitle(lane *views.Lane, low, high float64, here views.LaneCell) string {
	x, ok := here.Value()
	quantity := func(x float64) string { return report.Quantity(x, lane.Unit) }
	switch {
	case lane.Kind == sampledata.Nominal && here.Time > 0:
		return fmt.Sprintf("%s: %s; %s here", lane.Name, strings.Join(lane.Words, ", "), lane.Words[here.Word])
	case lane.Kind == sampledata.Nominal:
		return fmt.Sprintf("%s: %s; not measured here", lane.Name, strings.Join(lane.Words, ", "))
	case low > high:
		return lane.Name + ": no values to draw"
	}
	text := fmt.Sprintf("%s: %s to %s", lane.Name, quantity(low), quantity(high))
	if lane.Kind == sampledata.Counter {
		text += " a second"
	}
	if !ok {
		return text + "; not measured here"
	}
	return text + "; " + quantity(x) + " here"
}

// laneCell returns the cell for a column of a lane: the height of its value between the lowest and the highest, or the
// first letter of a word; a blank if nothing was measured.
func laneCell(lane *views.Lane, cell views.LaneCell, low, high float64) string {
	if lane.Kind == sampledata.Nominal {
		if cell.Time == 0 || lane.Words[cell.Word] == "" {
			return " "
		}
		for _, first := range lane.Words[cell.Word] {
			return string(first)
		}
	}
	x, ok := cell.Value()
	if !ok {
		return " "
	}
	if high <= low {
		return eighths[1]
	}
	return eighths[1+int(math.Round((x-low)/(high-low)*7))]
}
