package plots

import (
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/cpprof/cpprof/internal/report"
)

// The sizes of pictures, in points.
const (
	pictureWidth = 720
	stripHeight  = 130
	besideWidth  = 130 // of the statistics beside a strip
	scatterSize  = 480
	cellSize     = 170 // of a matrix
	maxPoints    = 2000
	maxDots      = 20_000
)

// palette has the colours of recordings; the last one is for points that lie
// far out.
var palette = []color.RGBA{{31, 119, 180, 255}, {230, 120, 20, 255}, {44, 140, 44, 255},
	{148, 90, 180, 255}}

var farOut = color.RGBA{200, 30, 30, 255}

// A format writes a picture of a size.
type canvas interface {
	vg.CanvasSizer
	io.WriterTo
}

// Formats are the endings of picture files.
var Formats = []string{".svg", ".png"}

// newCanvas returns a canvas for a file, by the ending of its name.
func newCanvas(file string, width, height vg.Length) (canvas, error) {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".svg":
		return vgsvg.New(width, height), nil
	case ".png":
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height),
			vgimg.UseDPI(144))}, nil
	}
	return nil, fmt.Errorf("%s: the name of a picture ends with %s", file,
		strings.Join(Formats, " or "))
}

// A ticker writes the numbers of an axis with their unit.
type ticker struct{ unit string }

func (t ticker) Ticks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = report.InUnit(ticks[i].Value, t.unit)
		}
	}
	return ticks
}

// newPlot returns a plot with small letters.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.White
	small := font.Length(8)
	p.Title.TextStyle.Font.Size = 9
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Tick.Label.Font.Size, a.Label.TextStyle.Font.Size = small, small
	}
	p.Legend.TextStyle.Font.Size = small
	p.Legend.Top = true
	return p
}

// WriteStrips draws strips below one another, with statistics beside them,
// and the same time in all.
func WriteStrips(w io.Writer, file string, strips []Strip) error {
	height := vg.Length(stripHeight * len(strips))
	c, err := newCanvas(file, pictureWidth, height)
	if err != nil {
		return err
	}
	end := 0.0
	for i := range strips {
		_, _, e, _ := strips[i].bounds()
		end = max(end, e)
	}
	var rows [][]*plot.Plot
	for i := range strips {
		p, err := strips[i].plot()
		if err != nil {
			return err
		}
		p.X.Min, p.X.Max = 0, end
		rows = append(rows, []*plot.Plot{p})
	}
	all := draw.New(c)
	left := draw.Crop(all, 0, -besideWidth, 0, 0)
	tiles := draw.Tiles{Rows: len(strips), Cols: 1, PadY: 6, PadTop: 4, PadBottom: 4, PadLeft: 4,
		PadRight: 4}
	for i, row := range plot.Align(rows, tiles, left) {
		rows[i][0].Draw(row[0])
		strips[i].drawStatistics(all, row[0])
	}
	_, err = c.WriteTo(w)
	return err
}

func (s *Strip) plot() (*plot.Plot, error) {
	p := newPlot()
	p.Title.Text = s.Name
	p.X.Tick.Marker, p.Y.Tick.Marker = ticker{"s"}, ticker{s.Unit}
	for k := range s.Runs {
		r := &s.Runs[k]
		colour := palette[k%len(palette)]
		for n, line := range r.segments(maxPoints) {
			xys := make(plotter.XYs, len(line))
			for i, at := range line {
				xys[i].X, xys[i].Y = at.seconds, at.value
			}
			if err := addLine(p, xys, colour, r.Recording, n == 0 && len(s.Runs) > 1); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// addLine adds a line, or a dot if it has one point only.
func addLine(p *plot.Plot, xys plotter.XYs, colour color.Color, name string, legend bool) error {
	if len(xys) == 1 {
		return addDots(p, xys, colour)
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return err
	}
	line.Color, line.Width = colour, 0.8
	p.Add(line)
	if legend {
		p.Legend.Add(name, line)
	}
	return nil
}

func addDots(p *plot.Plot, xys plotter.XYs, colour color.Color) error {
	dots, err := plotter.NewScatter(xys)
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: colour, Radius: 1.5, Shape: draw.CircleGlyph{}}
	p.Add(dots)
	return nil
}

// drawStatistics writes the statistics of a strip to its right.
func (s *Strip) drawStatistics(all, row draw.Canvas) {
	y := row.Max.Y - 14
	for k := range s.Runs {
		style := textStyle(7.5, palette[k%len(palette)])
		if len(s.Runs) == 1 {
			style.Color = color.Black
		}
		lines := s.Runs[k].statistics(s.Unit)
		if len(s.Runs) > 1 { // shorter, to have room for all
			lines = []string{strings.Join(lines[:1], ""),
				strings.Join(lines[min(2, len(lines)):min(4, len(lines))], ", ")}
		}
		for _, line := range lines {
			all.FillText(style, vg.Point{X: row.Max.X + 8, Y: y}, line)
			y -= 11
		}
	}
}

func textStyle(size font.Length, colour color.Color) text.Style {
	style := plot.New().Title.TextStyle
	style.Font.Size, style.Color = size, colour
	style.XAlign, style.YAlign = text.XLeft, text.YCenter
	return style
}

// WriteScatter draws a scatter plot; points that lie far out are red.
func WriteScatter(w io.Writer, file string, pair *Pair) error {
	c, err := newCanvas(file, scatterSize, scatterSize)
	if err != nil {
		return err
	}
	p, err := pair.plot()
	if err != nil {
		return err
	}
	p.Title.Text = pair.Title()
	p.X.Label.Text, p.Y.Label.Text = pair.X, pair.Y
	p.Draw(draw.Crop(draw.New(c), 6, -14, 6, -6))
	_, err = c.WriteTo(w)
	return err
}

func (pair *Pair) plot() (*plot.Plot, error) {
	p := newPlot()
	p.X.Tick.Marker, p.Y.Tick.Marker = ticker{pair.UnitX}, ticker{pair.UnitY}
	var usual, far plotter.XYs
	step := max(1, len(pair.At)/maxDots)
	for i, at := range pair.At {
		_, isFar := slices.BinarySearch(pair.Leverage, pair.Samples[i])
		switch xy := (plotter.XY{X: at[0], Y: at[1]}); {
		case isFar:
			far = append(far, xy)
		case i%step == 0:
			usual = append(usual, xy)
		}
	}
	for _, dots := range []struct {
		xys    plotter.XYs
		colour color.Color
	}{{usual, palette[0]}, {far, farOut}} {
		if len(dots.xys) == 0 {
			continue
		}
		if err := addDots(p, dots.xys, dots.colour); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// WriteMatrix draws the scatter plots of all pairs of metrics below the
// diagonal, and r above it. Pair returns the pair of two metrics, by their
// numbers.
func WriteMatrix(w io.Writer, file string, names []string, pair func(x, y int) *Pair) error {
	n := len(names)
	c, err := newCanvas(file, vg.Length(cellSize*n), vg.Length(cellSize*n))
	if err != nil {
		return err
	}
	all := draw.New(c)
	tiles := draw.Tiles{Rows: n, Cols: n, PadX: 6, PadY: 6, PadTop: 4, PadBottom: 4, PadLeft: 4,
		PadRight: 8}
	for row := range n {
		for col := range n {
			cell := tiles.At(all, col, row)
			switch {
			case row == col:
				drawWords(cell, []string{names[row]})
			case row < col:
				p := pair(col, row)
				drawWords(cell, []string{"r " + report.Coefficient(p.Pearson),
					"rho " + report.Coefficient(p.Spearman), fmt.Sprintf("n %d", p.N)})
			default:
				p, err := pair(col, row).plot()
				if err != nil {
					return err
				}
				p.Draw(cell)
			}
		}
	}
	_, err = c.WriteTo(w)
	return err
}

// drawWords writes lines into the middle of a cell. Long names are broken
// into lines.
func drawWords(cell draw.Canvas, lines []string) {
	const wide = 28 // characters
	var short []string
	for _, line := range lines {
		for r := []rune(line); len(r) > 0; {
			n := min(wide, len(r))
			short = append(short, string(r[:n]))
			r = r[n:]
		}
	}
	style := textStyle(9, color.Black)
	style.XAlign = text.XCenter
	middle := cell.Center()
	for i, line := range short {
		offset := vg.Length(float64(len(short)-1)/2-float64(i)) * 13
		cell.FillText(style, vg.Point{X: middle.X, Y: middle.Y + offset}, line)
	}
}
