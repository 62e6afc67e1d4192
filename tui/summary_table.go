package tui

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// A classColumn is one of the table of classes.
type classColumn struct {
	name string
	key  func(c *views.ClassSummary) *big.Rat // what orders it, the largest first; nil: the class
}

// typedColumn is the first of the columns of typed times.
const typedColumn = 3

// classColumns are those of the table; "time" is a bar, and orders by what goroutines do but wait.
var classColumns = []classColumn{
	{"count", func(c *views.ClassSummary) *big.Rat { return hits(int64(c.Goroutines)) }},
	{"alive", func(c *views.ClassSummary) *big.Rat { return c.MeanAlive }},
	{"time", func(c *views.ClassSummary) *big.Rat { waits := share(views.Wait)(c); return waits.Neg(waits) }},
	{views.Run.Short(), share(views.Run)},
	{views.Load.Short(), share(views.Load)},
	{views.Prio.Short(), share(views.Prio)},
	{views.Monitor.Short(), share(views.Monitor)},
	{views.Wait.Short(), share(views.Wait)},
	{"class", nil},
}

// defaultOrder is by the number of goroutines alive.
const defaultOrder = 1

// share is a typed time as a fraction of the class's lifetime.
func share(typed views.TypedTime) func(*views.ClassSummary) *big.Rat {
	return func(c *views.ClassSummary) *big.Rat {
		return c.Shares()[typed]
	}
}

// An order is that of the table's lines: by a column, largest first, or names as in a dictionary.
type order struct {
	column   int
	reversed bool
}

func (o order) sort(classes []views.ClassSummary) {
	key := classColumns[o.column].key
	keys := make(map[string]*big.Rat, len(classes))
	if key != nil {
		for i := range classes {
			keys[classes[i].Class] = key(&classes[i])
		}
	}
	slices.SortFunc(classes, func(a, b views.ClassSummary) int {
		d := cmp.Compare(a.Class, b.Class)
		if key != nil {
			d = cmp.Or(keys[b.Class].Cmp(keys[a.Class]), d)
		}
		if o.reversed {
			return -d
		}
		return d
	})
}

func (o order) arrow() string {
	if (classColumns[o.column].key == nil) == o.reversed {
		return "▼"
	}
	return "▲"
}

// A tablePlace is where the table was drawn.
type tablePlace struct {
	y    int   // of the heading, on the screen
	rows int   // for classes
	ends []int // behind each column, on the screen
}

// columnAt is the column at a place of the heading, -1 for none.
func (p *tablePlace) columnAt(x int) int {
	return slices.IndexFunc(p.ends, func(end int) bool { return x < end })
}

// leastClass is the width that names of classes get before anything else is shown of them.
const leastClass = 20

// widths gives the columns' widths, a blank before each included; 0 for those that there is no room for.
func (w *summaryWindow) widths(room int) []int {
	widths := make([]int, len(classColumns))
	for i, c := range classColumns {
		widths[i] = 1 + len(c.name) + 1 // for the arrow
	}
	for column, width := range w.widest {
		widths[column] = max(widths[column], 1+width)
	}
	class := len(classColumns) - 1
	widths[2] = min(max(room/6, 12), 42)
	widths[class] = leastClass
	for _, drop := range []int{typedColumn, 0, 2} {
		if sum(widths) <= room {
			break
		}
		widths[drop] = 0
		if drop == typedColumn {
			clear(widths[typedColumn:class])
		}
	}
	widths[class] = 0
	widths[class] = max(1, room-sum(widths))
	return widths
}

// measure finds how wide the columns of numbers must be.
func (w *summaryWindow) measure() {
	w.widest = [typedColumn - 1]int{}
	for i := range w.classes {
		for column := range w.widest {
			w.widest[column] = max(w.widest[column], len(w.cell(i, column)))
		}
	}
}

func sum(numbers []int) (s int) {
	for _, n := range numbers {
		s += n
	}
	return s
}

// cell is a number in the table.
func (w *summaryWindow) cell(place, column int) string {
	c := &w.classes[place]
	switch column {
	case 0:
		return strconv.Itoa(c.Goroutines)
	case 1:
		return report.Decimal(c.MeanAlive, 1)
	}
	share := classColumns[column].key(c)
	return report.Decimal(share.Mul(share, big.NewRat(100, 1)), 0)
}

// drawTable draws the classes that there is room for, and what there is to say of the selected one.
func (w *summaryWindow) drawTable(c canvas) {
	details := wrap(w.details(), c.width-2)
	details = details[:min(len(details), max(1, c.height-2))]
	widths := w.widths(c.width)
	w.table = tablePlace{y: c.y, rows: max(0, c.height-1-len(details))}
	x := 0
	for _, width := range widths {
		x += width
		w.table.ends = append(w.table.ends, c.x+x)
	}
	w.drawHeading(c.part(0, 0, c.width, 1), widths)
	place := max(0, w.place())
	w.top = max(min(w.top, place, len(w.classes)-w.table.rows), place-w.table.rows+1, 0)
	for y := 0; y < w.table.rows && w.top+y < len(w.classes); y++ {
		w.drawClass(c.part(0, 1+y, c.width, 1), w.top+y, widths)
	}
	for i, line := range details {
		c.text(1, c.height-len(details)+i, line, w.a.theme.dim)
	}
}

func (w *summaryWindow) drawHeading(c canvas, widths []int) {
	c.fill(0, 0, w.a.theme.bar)
	x := 0
	for i, width := range widths {
		if width == 0 {
			continue
		}
		name, style := classColumns[i].name, w.a.theme.bar
		if i == w.order.column {
			name, style = name+w.order.arrow(), style.Bold(true)
		}
		if classColumns[i].key == nil || i == typedColumn-1 {
			c.text(x+1, 0, name, style)
		} else {
			c.text(x+width-textWidth(name), 0, name, style)
		}
		x += width
	}
}

func (w *summaryWindow) drawClass(c canvas, place int, widths []int) {
	class := &w.classes[place]
	style := w.a.theme.plain
	if class.Class == w.selected {
		style = w.a.theme.selected
		c.fill(0, 0, style)
	}
	x := 0
	for i, width := range widths {
		switch {
		case width == 0:
		case classColumns[i].key == nil:
			c.text(x+1, 0, shorten(class.Class, width-1), style)
		case i == typedColumn-1:
			w.drawBar(c.part(x+1, 0, width-1, 1), class.Shares())
		default:
			text := w.cell(place, i)
			c.text(x+width-len(text), 0, text, style)
		}
		x += width
	}
}

// drawBar stacks shares that sum to 1.
func (w *summaryWindow) drawBar(c canvas, shares views.Parts) {
	x := 0
	for typed, n := range report.Apportion(shares[:], c.width) {
		text, style := w.a.theme.typedCell(views.TypedTime(typed))
		x = c.text(x, 0, strings.Repeat(text, n), style)
	}
}

// details say about the selected class what the table may have no room for.
func (w *summaryWindow) details() string {
	i := w.place()
	if i < 0 {
		return ""
	}
	c := &w.classes[i]
	text := fmt.Sprintf("%s: %s, %s, %s alive on average", c.Class, report.Counted(c.Goroutines, "goroutine"), report.Counted(c.Hits, "hit"), report.Decimal(c.MeanAlive, 1))
	if c.Parts[views.Monitor].Sign() > 0 {
		text += fmt.Sprintf("\nof its MONITOR time %s is attributed to holders of the locks", report.Attributed(c.Parts[views.Monitor], c.Attributed))
	}
	return text
}

// Draw draws the window: head, timeline, table.
func (w *summaryWindow) Draw(screen tcell.Screen) {
	c := newCanvas(screen, w)
	y := w.drawHead(c)
	height := min(max((c.height-9)/3, 1), mostGraph) + timelineBars
	w.timeline.draw(c.part(0, y, c.width, height))
	y += height
	w.drawTable(c.part(0, y, c.width, c.height-y))
}
