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
	left  bool                               // the name is left-aligned
	value func(*views.ClassSummary) *big.Rat // the value to sort by, largest first; nil: the class

	// text formats a number, right-aligned; nil if draw draws the cell.
	text func(value *big.Rat) string
	draw func(c canvas, class *views.ClassSummary, t *theme, style tcell.Style)

	// width returns the column's width for a table's width, including a blank before the cell; nil: as wide as its
	// content.
	width func(table int) int
	leave int // a narrow table first leaves out the columns with 1, then 2, ...; 0 is never left out
}

// classColumns are the columns of the table; the last one takes the rest of the width.
var classColumns = slices.Concat(numberColumns(report.ClassNumbers), []classColumn{timeColumn}, numberColumns(report.ClassShares), []classColumn{nameColumn})

// defaultOrder is the first sort column: the number of goroutines that are alive.
var defaultOrder = slices.IndexFunc(classColumns, func(c classColumn) bool { return c.name == "alive" })

// timeColumn is a bar of typed time, sorted by the time that goroutines do not wait.
var timeColumn = classColumn{
	name: "time", left: true, leave: 4,
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

// nameColumn gets 20 columns before any other column is shown.
var nameColumn = classColumn{
	name: "class", left: true,
	width: func(int) int { return 20 },
	draw: func(c canvas, class *views.ClassSummary, _ *theme, style tcell.Style) {
		c.text(0, 0, shorten(class.Class, c.width), style)
	},
}

// numberColumns returns the columns of numbers for the screen.
func numberColumns(of []report.ClassColumn) (columns []classColumn) {
	for _, c := range of {
		if c.Short != "" {
			columns = append(columns, classColumn{name: c.Short, value: c.Value, text: c.Brief, leave: c.Leave})
		}
	}
	return columns
}

// An order is the order of the table's lines: by a column, largest first, or alphabetically by name.
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
