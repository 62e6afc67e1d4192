package report

import (
	"encoding/csv"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/cpprof/cpprof/internal/termtext"
)

// A CSV writes the rows of a table as comma-separated values. Texts that a
// spreadsheet would take for a formula are quoted.
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

// cellNumber returns a number with six digits after the point, none if it is
// whole. nil is empty.
func cellNumber(x *big.Rat) string {
	if x == nil {
		return ""
	}
	return exactOrRounded(x, 6)
}
