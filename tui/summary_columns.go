package tui

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/report"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// A classColumn is a column of the table of classes.
type classColumn struct {
	name  string
	left  bool                               // the name stands at the left end
	value func(*views.ClassSummary) *big.Rat // what orders it, the largest first; nil: the class

	// text is a number, which stands at the right end; nil if draw draws the cell.
	text func(value *big.Rat) string
	draw func(c canvas, class *views.ClassSummary, t *theme, style tcell.Style)

	// width is for a width of the whole table, a blank before the cell included; nil: as wide as what stands in it.
	width func(table int) int
	leave int // which columns a narrow table leaves out first, from 1 on; 0 is none of these
}

// classColumns are those of the table; the last one has all the room that the others leave.
var classColumns = slices.Concat(numberColumns(report.ClassNumbers), []classColumn{timeColumn}, numberColumns(report.ClassShares), []classColumn{nameColumn})

// defaultOrder is the column that orders the table at first: how many goroutines are alive.
var defaultOrder = slices.IndexFunc(classColumns, func(c classColumn) bool { return c.name == "alive" })

// timeColumn is a bar of typed time, and orders by what goroutines do but wait.
var timeColumn = classColumn{
	name: "time", left: true, leave: 3,
	value: func(c *views.ClassSummary) *big.Rat { waits := c.Shares()[views.Wait]; return waits.Neg(waits) },
	width: func(table int) int { return min(max(table/6, 12), 42) },
	draw: func(c canvas, class *views.ClassSummary, t *theme, _ tcell.Style) {
		shares := class.Shares()
		x := 0
		for typed, n := range report.Apportion(shares[:], c.width) {
			text, style := t.typedCell(views.TypedTime(typed))
			x = c.text(x, 0, strings.Repeat(text, n), style)
		}
	},
}

// nameColumn gets 20 columns before anything else is shown of a class.
var nameColumn = classColumn{
	name: "class", left: true,
	width: func(int) int { return 20 },
	draw: func(c canvas, class *views.ClassSummary, _ *theme, style tcell.Style) {
		c.text(0, 0, shorten(class.Class, c.width), style)
	},
}

// numberColumns are the columns of numbers that a screen has.
func numberColumns(of []report.ClassColumn) (columns []classColumn) {
	for _, c := range of {
		if c.Short != "" {
			columns = append(columns, classColumn{name: c.Short, value: c.Value, text: c.Brief, leave: c.Leave})
		}
	}
	return columns
}

// An order is that of the table's lines: by a column, largest first, or names as in a dictionary.
type order struct {
	column   int
	reversed bool
}

func (o order) sort(classes []views.ClassSummary) {
	value := classColumns[o.column].value
	values := make(map[string]*big.Rat, len(classes))
	if value != nil {
		for i := range classes {
			values[classes[i].Class] = value(&classes[i])
		}
	}
	slices.SortFunc(classes, func(a, b views.ClassSummary) int {
		d := cmp.Compare(a.Class, b.Class)
		if value != nil {
			d = cmp.Or(values[b.Class].Cmp(values[a.Class]), d)
		}
		if o.reversed {
			return -d
		}
		return d
	})
}

func (o order) arrow() string {
	if (classColumns[o.column].value == nil) == o.reversed {
		return "▼"
	}
	return "▲"
}
