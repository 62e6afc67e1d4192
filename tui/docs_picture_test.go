package tui

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// The documentation shows screens as SVG.

// The size of a cell and of the margin around the screen, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18.0
	baseline   = 13.5 // from the top of a cell
	margin     = 12.0
)

// The terminal's own colours. The picture draws its background,
// so that it is readable on a light and on a dark page.
const (
	ownFore = "#d8dee6"
	ownBack = "#161b22"
)

// An svgCell is one character of a screen.
type svgCell struct {
	Rune rune
	svgStyle
}

// An svgStyle is the look of a character. A colour is "#rrggbb",
// or "" for the terminal's own.
type svgStyle struct {
	Fore, Back         string
	Bold, Dim, Reverse bool
}

// An svgDrawing is an SVG being written.
type svgDrawing struct{ strings.Builder }

// writeSVG draws the lines of a screen as SVG. The title says
// what the picture shows to those who can't see it.
func writeSVG(w io.Writer, screen [][]svgCell, title string) error {
	columns := 0
	for _, line := range screen {
		columns = max(columns, len(line))
	}
	width, height := float64(columns)*cellWidth+2*margin, float64(len(screen))*cellHeight+2*margin
	var p svgDrawing
	fmt.Fprintf(&p, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&p, "<title>%s</title>\n", escape(title))
	fmt.Fprintf(&p, `<rect width="%.0f" height="%.0f" rx="8" fill="%s"/>`+"\n", width, height,
		ownBack)
	p.WriteString(`<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" xml:space="preserve">` + "\n")
	for y, line := range screen {
		p.line(line, margin+float64(y)*cellHeight)
	}
	p.WriteString("</g>\n</svg>\n")
	_, err := io.WriteString(w, p.String())
	return err
}

// line draws the cells of a line, adjacent cells of one style together.
func (p *svgDrawing) line(line []svgCell, top float64) {
	for from := 0; from < len(line); {
		to := from + 1
		for to < len(line) && alike(line[from], line[to]) {
			to++
		}
		p.run(line[from:to], margin+float64(from)*cellWidth, top)
		from = to
	}
}

// alike reports whether two cells can be drawn together: text of
// one style, or the same block in one style.
func alike(a, b svgCell) bool {
	return a.svgStyle == b.svgStyle && (a.Rune == b.Rune || block(a.Rune) == nil && block(b.Rune) == nil)
}

// run draws cells that are alike.
func (p *svgDrawing) run(cells []svgCell, left, top float64) {
	s := cells[0].svgStyle
	fore, back := s.Fore, s.Back
	if s.Reverse {
		if fore == "" {
			fore = ownFore
		}
		if back == "" {
			back = ownBack
		}
		fore, back = back, fore
	}
	if back != "" {
		p.rect(left, top, float64(len(cells))*cellWidth, cellHeight, back, 1)
	}
	if fore == "" {
		fore = ownFore
	}
	if b := block(cells[0].Rune); b != nil {
		p.rect(left, top+b.from*cellHeight, float64(len(cells))*cellWidth, (b.to-b.from)*cellHeight,
			fore, b.opacity*opacity(s))
		return
	}
	p.text(cells, left, top, fore)
}

// opacity returns less than 1 for dim text.
func opacity(s svgStyle) float64 {
	if s.Dim {
		return 0.65
	}
	return 1
}

func (p *svgDrawing) rect(x, y, width, height float64, fill string, opacity float64) {
	fmt.Fprintf(p, `<rect x="%.1f" y="%.2f" width="%.1f" height="%.2f" fill="%s"`, x, y, width,
		height, fill)
	if opacity < 1 {
		fmt.Fprintf(p, ` fill-opacity="%.2f"`, opacity)
	}
	p.WriteString(" shape-rendering=\"crispEdges\"/>\n")
}

// text draws characters. It sets the text's length, so that
// columns are aligned in every font.
func (p *svgDrawing) text(cells []svgCell, left, top float64, fill string) {
	var b strings.Builder
	for _, c := range cells {
		b.WriteRune(c.Rune)
	}
	text := strings.TrimRight(b.String(), " ")
	trimmed := strings.TrimLeft(text, " ")
	if trimmed == "" {
		return
	}
	left += float64(len(text)-len(trimmed)) * cellWidth
	fmt.Fprintf(p, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"`,
		left, top+baseline, float64(len([]rune(trimmed)))*cellWidth, fill)
	if s := cells[0].svgStyle; s.Dim {
		fmt.Fprintf(p, ` fill-opacity="%.2f"`, opacity(s))
	} else if s.Bold {
		p.WriteString(` font-weight="bold"`)
	}
	fmt.Fprintf(p, ">%s</text>\n", escape(trimmed))
}

// A shape is the part of a cell that a block character fills,
// from its top: 0 is the top and 1 the bottom of the cell.
type shape struct{ from, to, opacity float64 }

// block returns the shape of a block character, or of a
// horizontal line; nil for other characters. Fonts draw these
// with gaps between the cells.
func block(r rune) *shape {
	switch {
	case r >= '▁' && r <= '█': // eighths, from the bottom up
		return &shape{1 - float64(r-'▁'+1)/8, 1, 1}
	case r >= '░' && r <= '▓':
		return &shape{0, 1, float64(r-'░'+1) / 4}
	case r == '─':
		return &shape{0.47, 0.53, 1}
	}
	return nil
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

// svgElements returns the elements of an SVG, as their names and
// a few attributes, and its texts.
func svgElements(t *testing.T, svg string) (elements []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return elements
		}
		fixture.Check(t, err)
		switch e := token.(type) {
		case xml.StartElement:
			said := e.Name.Local
			for _, a := range e.Attr {
				if slices.Contains([]string{"x", "y", "fill", "fill-opacity", "font-weight"}, a.Name.Local) {
					said += " " + a.Name.Local + "=" + a.Value
				}
			}
			elements = append(elements, said)
		case xml.CharData:
			if text := strings.TrimSpace(string(e)); text != "" {
				elements = append(elements, text)
			}
		}
	}
}

func TestWriteSVG(t *testing.T) {
	red := svgStyle{Fore: "#ff0000"}
	screen := [][]svgCell{
		{{'a', svgStyle{Bold: true}}, {'<', svgStyle{Bold: true}}, {'█', red}, {'█', red}},
		{{' ', svgStyle{}}, {'b', svgStyle{}}, {'▂', svgStyle{Back: "#00ff00"}}, {'x', svgStyle{Reverse: true, Dim: true}}},
	}
	var b strings.Builder
	fixture.Check(t, writeSVG(&b, screen, "A & B"))
	want := []string{
		"svg", "title", "A & B", "rect fill=" + ownBack, "g",
		"text x=12.0 y=25.5 fill=" + ownFore + " font-weight=bold", "a<",
		"rect x=28.8 y=12.00 fill=#ff0000",
		"text x=20.4 y=43.5 fill=" + ownFore, "b",
		"rect x=28.8 y=30.00 fill=#00ff00", "rect x=28.8 y=43.50 fill=" + ownFore,
		"rect x=37.2 y=30.00 fill=" + ownFore, "text x=37.2 y=43.5 fill=" + ownBack + " fill-opacity=0.65", "x",
	}
	if got := svgElements(t, b.String()); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
