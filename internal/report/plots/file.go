package plots

import (
	"fmt"
	"image/color"
	"io"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/report"
)

// The sizes of pictures, in points.
const (
	pictureWidth = 720
	stripHeight  = 130
	besideWidth  = 130 // of the statistics beside a strip
	scatterSize  = 480
	cellSize     = 170 // of a matrix
	lineHeight   = 11
	maxPoints    = 2000
	maxDots      = 20_000
)

// palette has the colours of recordings.
var palette = []color.RGBA{{31, 119, 180, 255}, {230, 120, 20, 255}, {44, 140, 44, 255},
	{148, 90, 180, 255}}

var farOut = color.RGBA{200, 30, 30, 255}

const dotRadius = 1.5

// WriteStrips draws strips below one another, with statistics beside them,
// and the same time in all.
func WriteStrips(w io.Writer, file string, strips []Strip) error {
	c, err := newCanvas(file, pictureWidth, stripHeight*len(strips))
	if err != nil {
		return err
	}
	end := 0.0
	for i := range strips {
		_, _, e, _ := strips[i].bounds()
		end = max(end, e)
	}
	for i := range strips {
		top := float64(stripHeight * i)
		strips[i].draw(c, box{0, top, pictureWidth - besideWidth, top + stripHeight}, end)
	}
	return c.writeTo(w)
}

func (s *Strip) draw(c canvas, b box, end float64) {
	low, high, _, ok := s.bounds()
	if !ok {
		low, high = 0, 0
	}
	a := within(b, Scale{0, end}, Scale{low, high}, "s", s.Unit)
	a.draw(c, s.Name)
	for k := range s.Runs {
		colour := palette[k%len(palette)]
		var lines [][]place
		var single []place
		for _, line := range s.Runs[k].segments(maxPoints) {
			list := lists.Each(line, func(p point) place { return a.at(p.seconds, p.value) })
			if len(list) == 1 {
				single = append(single, list...)
			} else {
				lines = append(lines, list)
			}
		}
		c.lines(lines, .8, colour)
		c.dots(single, dotRadius, colour)
	}
	s.writeStatistics(c, place{b.right, a.top})
}

// writeStatistics writes the statistics of a strip to its right,
// in the colours of its recordings if there are several.
func (s *Strip) writeStatistics(c canvas, at place) {
	for k := range s.Runs {
		lines, colour := s.Runs[k].statistics(s.Unit), black
		if len(s.Runs) > 1 { // shorter, to have room for all
			colour = palette[k%len(palette)]
			lines = []string{lastOf(s.Runs[k].Recording, besideWidth/letterWidth), lines[0],
				strings.Join(lines[min(2, len(lines)):min(4, len(lines))], ", ")}
		}
		for _, line := range lines {
			c.text(at, 0, line, colour)
			at.y += lineHeight
		}
	}
}

// lastOf returns the last characters of a text that is longer.
func lastOf(text string, characters int) string {
	r := []rune(text)
	return string(r[max(0, len(r)-characters):])
}

// WriteScatter draws a scatter plot; points that lie far out are red.
func WriteScatter(w io.Writer, file string, pair *Pair) error {
	c, err := newCanvas(file, scatterSize, scatterSize)
	if err != nil {
		return err
	}
	a := pair.draw(c, box{0, lineHeight, scatterSize, scatterSize - lineHeight}, pair.Title())
	c.text(place{letterWidth, a.top - lineHeight - 5}, 0, pair.Y, black)
	c.text(place{(a.left + a.right) / 2, scatterSize - 5}, .5, pair.X, black)
	return c.writeTo(w)
}

func (pair *Pair) draw(c canvas, b box, title string) axes {
	var x, y Scale
	if len(pair.At) > 0 {
		x, y = extent(pair.At, 0), extent(pair.At, 1)
	}
	a := within(b, x, y, pair.UnitX, pair.UnitY)
	a.draw(c, title)
	var usual, far []place
	step := max(1, len(pair.At)/maxDots)
	for i, values := range pair.At {
		_, isFar := slices.BinarySearch(pair.Leverage, pair.Samples[i])
		switch at := a.at(values[0], values[1]); {
		case isFar:
			far = append(far, at)
		case i%step == 0:
			usual = append(usual, at)
		}
	}
	c.dots(usual, dotRadius, palette[0])
	c.dots(far, dotRadius, farOut)
	return a
}

// WriteMatrix draws the scatter plots of all pairs of metrics
// below the diagonal, and r above it. Pair returns the pair of
// two metrics, by their numbers.
func WriteMatrix(w io.Writer, file string, names []string, pair func(x, y int) *Pair) error {
	n := len(names)
	c, err := newCanvas(file, cellSize*n, cellSize*n)
	if err != nil {
		return err
	}
	for row := range n {
		for col := range n {
			left, top := float64(cellSize*col), float64(cellSize*row)
			cell := box{left, top, left + cellSize, top + cellSize}
			switch {
			case row == col:
				writeWords(c, cell, []string{names[row]})
			case row < col:
				p := pair(col, row)
				writeWords(c, cell, []string{"r " + report.Coefficient(p.Pearson),
					"rho " + report.Coefficient(p.Spearman), fmt.Sprintf("n %d", p.N)})
			default:
				pair(col, row).draw(c, cell, "")
			}
		}
	}
	return c.writeTo(w)
}

// writeWords writes lines into the middle of a cell. Long names
// are broken into lines.
func writeWords(c canvas, cell box, lines []string) {
	const wide = cellSize/letterWidth - 8 // characters
	var short []string
	for _, line := range lines {
		for r := []rune(line); len(r) > 0; {
			n := min(wide, len(r))
			short = append(short, string(r[:n]))
			r = r[n:]
		}
	}
	at := place{(cell.left + cell.right) / 2,
		(cell.top+cell.bottom)/2 - float64(len(short)-1)/2*lineHeight}
	for _, line := range short {
		c.text(at, .5, line, black)
		at.y += lineHeight
	}
}
