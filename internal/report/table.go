package report

import (
	"encoding/csv"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/termtext"
)

// A table aligns columns: the first to the left or, if the table
// says so, to the right; the others to the right. The last
// column is not padded.
type table struct {
	rows  [][]string
	right bool
	// of the screen: names in the last column that would not fit
	// are shortened; 0: no name is
	width int
}

// first returns the first elements of a list, all if top is 0.
func first[T any](list []T, top int) []T {
	if top > 0 && top < len(list) {
		return list[:top]
	}
	return list
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer) {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		line := ""
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch {
			case i == 0 && t.right:
				line = pad + cell
			case i == 0:
				line = cell + pad
			case i == len(widths)-1:
				line = withName(line+"  ", cell, t.width)
			default:
				line += "  " + pad + cell
			}
		}
		termtext.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// A CSV writes the rows of a table as comma-separated values.
// Texts that a spreadsheet would take for a formula are quoted.
type CSV struct{ *csv.Writer }

// NewCSV returns a table that is written to w. Flush ends it.
func NewCSV(w io.Writer) *CSV { return &CSV{csv.NewWriter(w)} }

// Row writes texts and numbers. A number that is undefined is empty.
func (c *CSV) Row(cells ...any) {
	record := make([]string, len(cells))
	for i, cell := range cells {
		switch cell := cell.(type) {
		case string:
			record[i] = cellText(cell)
		case int:
			record[i] = strconv.Itoa(cell)
		case int64:
			record[i] = strconv.FormatInt(cell, 10)
		case float64:
			if !math.IsNaN(cell) && !math.IsInf(cell, 0) {
				record[i] = strconv.FormatFloat(cell, 'g', -1, 64)
			}
		case *big.Rat:
			record[i] = cellNumber(cell)
		}
	}
	_ = c.Write(record) // End returns it
}

// End ends the table, and returns the first error.
func (c *CSV) End() error {
	c.Flush()
	return c.Error()
}

// cellText makes a text safe for terminals and spreadsheets.
func cellText(text string) string {
	text = termtext.Printable(text)
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}

// cellNumber returns a number with six digits after the point,
// none if it is whole. nil is empty.
func cellNumber(x *big.Rat) string {
	if x == nil {
		return ""
	}
	return exactOrRounded(x, 6)
}
