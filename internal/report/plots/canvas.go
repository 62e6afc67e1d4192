package plots

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/inconsolata"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"github.com/cpprof/cpprof/internal/termtext"
)

// Formats are the endings of picture files.
var Formats = []string{".svg", ".png"}

// A place is in points, from the top left of a picture.
type place struct{ x, y float64 }

// A box is a part of a picture.
type box struct{ left, top, right, bottom float64 }

// A canvas takes what a picture shows.
type canvas interface {
	// lines draws connected points, each list by itself.
	lines(lists [][]place, width float64, colour color.RGBA)
	dots(at []place, radius float64, colour color.RGBA)
	// text writes words whose baseline is at a place. Align is
	// the share of their width that lies left of it.
	text(at place, align float64, words string, colour color.RGBA)
	writeTo(w io.Writer) error
}

// The size of letters in points. The canvases don't measure
// text: letters have about this width in both.
const (
	letterSize  = 8
	letterWidth = 4
)

// newCanvas returns a canvas for a file, by the ending of its name.
func newCanvas(file string, width, height int) (canvas, error) {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".svg":
		s := new(svg)
		fmt.Fprintf(&s.body, `<svg xmlns="http://www.w3.org/2000/svg" width="%dpt" height="%dpt" `+
			`viewBox="0 0 %[1]d %d" font-family="sans-serif" font-size="%d">`+"\n"+
			`<rect width="100%%" height="100%%" fill="white"/>`+"\n", width, height, letterSize)
		return s, nil
	case ".png":
		if width*height*scale*scale > maxPixels {
			return nil, fmt.Errorf("%s: a picture of %d by %d dots is too large: "+
				"draw fewer metrics, or an .svg", file, width*scale, height*scale)
		}
		p := &pixels{image.NewRGBA(image.Rect(0, 0, width*scale, height*scale))}
		draw.Draw(p.image, p.image.Bounds(), image.White, image.Point{}, draw.Src)
		return p, nil
	}
	return nil, fmt.Errorf("%s: the name of a picture ends with %s", file,
		strings.Join(Formats, " or "))
}

type svg struct{ body strings.Builder }

func (s *svg) lines(lists [][]place, width float64, colour color.RGBA) {
	for _, list := range lists {
		s.body.WriteString(`<polyline fill="none" points="`)
		for _, at := range list {
			fmt.Fprintf(&s.body, "%.2f,%.2f ", at.x, at.y)
		}
		fmt.Fprintf(&s.body, `" stroke="%s" stroke-width="%g"/>`+"\n", hex(colour), width)
	}
}

func (s *svg) dots(at []place, radius float64, colour color.RGBA) {
	for _, p := range at {
		fmt.Fprintf(&s.body, `<circle cx="%.2f" cy="%.2f" r="%g" fill="%s"/>`+"\n",
			p.x, p.y, radius, hex(colour))
	}
}

func (s *svg) text(at place, align float64, words string, colour color.RGBA) {
	anchor := "start"
	switch align {
	case .5:
		anchor = "middle"
	case 1:
		anchor = "end"
	}
	fmt.Fprintf(&s.body, `<text x="%.2f" y="%.2f" text-anchor="%s" fill="%s">`,
		at.x, at.y, anchor, hex(colour))
	xml.EscapeText(&s.body, []byte(termtext.Printable(words)))
	s.body.WriteString("</text>\n")
}

func (s *svg) writeTo(w io.Writer) error {
	_, err := io.WriteString(w, s.body.String()+"</svg>\n")
	return err
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

const (
	scale     = 2        // dots per point
	maxPixels = 64 << 20 // of four bytes
)

// pixels are drawn without jagged edges.
type pixels struct{ image *image.RGBA }

// fill fills outlines that turn the same way. Where they
// overlap, they don't cancel out.
func (p *pixels) fill(outlines [][]place, colour color.RGBA) {
	b := box{math.MaxInt32, math.MaxInt32, 0, 0}
	for _, outline := range outlines {
		for _, at := range outline {
			b = box{min(b.left, at.x), min(b.top, at.y), max(b.right, at.x), max(b.bottom, at.y)}
		}
	}
	area := image.Rect(int(b.left*scale), int(b.top*scale), int(b.right*scale)+1,
		int(b.bottom*scale)+1).Intersect(p.image.Bounds())
	if area.Empty() {
		return
	}
	r := vector.NewRasterizer(area.Dx(), area.Dy())
	for _, outline := range outlines {
		for i, at := range outline {
			x := float32(at.x*scale - float64(area.Min.X))
			y := float32(at.y*scale - float64(area.Min.Y))
			if i == 0 {
				r.MoveTo(x, y)
			} else {
				r.LineTo(x, y)
			}
		}
		r.ClosePath()
	}
	r.Draw(p.image, area, image.NewUniform(colour), image.Point{})
}

func (p *pixels) lines(lists [][]place, width float64, colour color.RGBA) {
	var outlines [][]place
	for _, list := range lists {
		for i := 1; i < len(list); i++ {
			a, b := list[i-1], list[i]
			length := math.Hypot(b.x-a.x, b.y-a.y)
			if length == 0 {
				continue
			}
			x, y := (b.y-a.y)/length*width/2, (a.x-b.x)/length*width/2
			outlines = append(outlines, []place{{a.x + x, a.y + y}, {b.x + x, b.y + y},
				{b.x - x, b.y - y}, {a.x - x, a.y - y}})
		}
	}
	p.fill(outlines, colour)
}

func (p *pixels) dots(at []place, radius float64, colour color.RGBA) {
	const corners = 12
	var outlines [][]place
	for _, centre := range at {
		outline := make([]place, corners)
		for i := range outline {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
			outline[i] = place{centre.x + radius*cos, centre.y + radius*sin}
		}
		outlines = append(outlines, outline)
	}
	p.fill(outlines, colour)
}

func (p *pixels) text(at place, align float64, words string, colour color.RGBA) {
	d := font.Drawer{Dst: p.image, Src: image.NewUniform(colour), Face: inconsolata.Regular8x16}
	words = termtext.Printable(words)
	d.Dot = fixed.P(int(at.x*scale), int(at.y*scale))
	d.Dot.X -= fixed.Int26_6(align * float64(d.MeasureString(words)))
	d.DrawString(words)
}

func (p *pixels) writeTo(w io.Writer) error {
	b := bufio.NewWriter(w)
	if err := png.Encode(b, p.image); err != nil {
		return err
	}
	return b.Flush()
}
