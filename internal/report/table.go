package report

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/cpprof/cpprof/internal/termtext"
)

// A table aligns columns: the first to the left or, if the table says so, to
// the right; the others to the right. The last column is not padded.
type table struct {
	rows  [][]string
	right bool
	// of the screen: names in the last column that would not fit are
	// shortened; 0: no name is
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
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch {
			case i == 0 && t.right:
				b.WriteString(pad + cell)
			case i == 0:
				b.WriteString(cell + pad)
			case i == len(widths)-1:
				line := withName(b.String()+"  ", cell, t.width)
				b.Reset()
				b.WriteString(line)
			default:
				b.WriteString("  " + pad + cell)
			}
		}
		termtext.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
