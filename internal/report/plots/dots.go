package plots

import "slices"

// Dots are the points of a pair as characters of two by four
// dots (Braille).
type Dots struct {
	Columns, Rows int
	X, Y          Scale
	cells         []rune // by line, from the top, and column
}

// A Scale is the range of an axis.
type Scale struct{ Low, High float64 }

// NewDots draws the points of a pair into a number of columns and rows.
func NewDots(p *Pair, columns, rows int) *Dots {
	d := &Dots{Columns: columns, Rows: rows,
		cells: slices.Repeat([]rune{NoDots}, columns*rows)}
	if len(p.At) == 0 || len(d.cells) == 0 {
		return d
	}
	d.X, d.Y = extent(p.At, 0), extent(p.At, 1)
	for _, at := range p.At {
		x, y := d.X.place(at[0], 2*columns), 4*rows-1-d.Y.place(at[1], 4*rows)
		d.cells[y/4*columns+x/2] |= braille[y%4][x%2]
	}
	return d
}

// Cell returns the character at a column and row, from the top left.
func (d *Dots) Cell(column, row int) rune { return d.cells[row*d.Columns+column] }

// Line returns the characters of a row.
func (d *Dots) Line(row int) string { return string(d.cells[row*d.Columns : (row+1)*d.Columns]) }

// Place returns the column and row of a point.
func (d *Dots) Place(at [2]float64) (column, row int) {
	return d.X.place(at[0], d.Columns), d.Rows - 1 - d.Y.place(at[1], d.Rows)
}

// NoDots is the character without dots, the first of 256.
const NoDots = '\u2800'

// braille has the dot of a character, by row and column.
var braille = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

func extent(points [][2]float64, k int) Scale {
	s := Scale{points[0][k], points[0][k]}
	for _, p := range points {
		s.Low, s.High = min(s.Low, p[k]), max(s.High, p[k])
	}
	return s
}

// place returns which of n places a value has.
func (s Scale) place(x float64, n int) int {
	return min(n-1, int(s.share(x)*float64(n)))
}

// share returns where a value lies between the ends, from 0 to 1.
func (s Scale) share(x float64) float64 {
	if s.High == s.Low {
		return .5
	}
	// the difference of two large numbers may be infinite
	share := (x/2 - s.Low/2) / (s.High/2 - s.Low/2)
	if !(share > 0) {
		return 0
	}
	return min(share, 1)
}
