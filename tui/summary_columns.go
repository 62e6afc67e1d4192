package tui

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/report"
	"github.com/cpprof/cpprof/views"
	"github.com/gdamore/tcell/v2"
)

// A classColumn is a column of the table of classes.
type classColumn struct {
	name  string
	value func(*views.ClassPair) *big.Rat // the value to sort by, largest first; nil: the class

	// text returns a number, right-aligned as its name is; nil if
	// draw draws the cell.
	text func(*views.ClassPair) string
	draw func(c canvas, class *views.ClassPair, t *theme, style tcell.Style)

	// width returns the column's width for a table's width,
	// including a blank before the cell; nil: as wide as its
	// content.
	width func(table int) int
	// a narrow table first leaves out the columns with 1, then
	// 2, ...; 0 is never left out
	leave int
}

// classColumns are the columns of the table; the last one takes
// the rest of the width.
var classColumns = slices.Concat(numberColumns(report.ClassNumbers...),
	[]classColumn{timeColumn("time", 4, (*views.ClassPair).NewSide)},
	numberColumns(report.ClassShares...),
	[]classColumn{nameColumn})

// comparedColumns are the columns of a comparison.
var comparedColumns = slices.Concat(numberColumns(report.Compared(report.ClassNumbers)...),
	[]classColumn{timeColumn("time old", 1, (*views.ClassPair).OldSide),
		timeColumn("time new", 1, (*views.ClassPair).NewSide)},
	numberColumns(report.Compared(report.ClassShares)...),
	numberColumns(report.MovedColumn), []classColumn{nameColumn})

// defaultOrder returns the first sort column: the number of
// goroutines that are alive; of a profile, the share; in a
// comparison, how much the class changed.
func defaultOrder(columns []classColumn) int {
	for _, name := range []string{report.MovedColumn.Short, "alive"} {
		if i := columnNamed(columns, name); i >= 0 {
			return i
		}
	}
	return columnNamed(columns, "share")
}

func columnNamed(columns []classColumn, name string) int {
	return slices.IndexFunc(columns, func(c classColumn) bool { return c.name == name })
}

// timeColumn is a bar of the typed time in one recording. It
// sorts by the time that goroutines do not wait.
func timeColumn(name string, leave int,
	side func(*views.ClassPair) *views.ClassSummary) classColumn {
	return classColumn{
		name: name, leave: leave,
		value: func(p *views.ClassPair) *big.Rat {
			if side(p) == nil {
				return nil
			}
			waits := side(p).Shares()[views.Wait]
			return waits.Neg(waits)
		},
		width: func(table int) int { return min(max(table/6, 12), 42) },
		draw: func(c canvas, class *views.ClassPair, t *theme, _ tcell.Style) {
			if side(class) == nil {
				return
			}
			shares := side(class).Shares()
			x := 0
			for typed, n := range report.Apportion(shares[:], c.width) {
				text, style := t.typedCell(views.TypedTime(typed))
				x = c.text(x, 0, strings.Repeat(text, n), style)
			}
		},
	}
}

// nameColumn gets 20 columns before any other column is shown.
var nameColumn = classColumn{
	name:  "class",
	width: func(int) int { return 20 },
	draw: func(c canvas, class *views.ClassPair, _ *theme, style tcell.Style) {
		c.text(0, 0, shorten(class.Class, c.width), style)
	},
}

// numberColumns returns the columns of numbers for the screen.
func numberColumns(of ...report.ClassColumn) (columns []classColumn) {
	for _, c := range of {
		if c.Short != "" {
			columns = append(columns, classColumn{
				name: c.Short, leave: c.Leave, value: c.Value,
				text: func(p *views.ClassPair) string { return c.Cell(p, c.Brief) },
			})
		}
	}
	return columns
}

// An order is the order of the table's lines: by a column,
// largest first, or alphabetically by name. Lines without a
// value come last.
type order struct {
	column   string // its name; "" for the default
	reversed bool
}

// of returns the column of the order.
func (o order) of(columns []classColumn) int {
	if i := columnNamed(columns, o.column); i >= 0 {
		return i
	}
	return defaultOrder(columns)
}

func (o order) sort(classes []views.ClassPair, columns []classColumn) {
	value := columns[o.of(columns)].value
	values := make(map[string]*big.Rat, len(classes))
	if value != nil {
		for i := range classes {
			values[classes[i].Class] = value(&classes[i])
		}
	}
	slices.SortFunc(classes, func(a, b views.ClassPair) int {
		x, y, d := values[a.Class], values[b.Class], cmp.Compare(a.Class, b.Class)
		switch {
		case x == nil && y != nil:
			return 1
		case x != nil && y == nil:
			return -1
		case x != nil:
			d = cmp.Or(y.Cmp(x), d)
		}
		if o.reversed {
			return -d
		}
		return d
	})
}

// arrow shows the direction of the order.
func (o order) arrow(columns []classColumn) string {
	if (columns[o.of(columns)].value == nil) == o.reversed {
		return "▼"
	}
	return "▲"
}
