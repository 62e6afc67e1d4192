// Package picture draws a terminal's screen as SVG, for the documentation.
package picture

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The size of a cell and of the margin around the screen, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18.0
	baseline   = 13.5 // from the top of a cell
	margin     = 12.0
)

// The terminal's own colours. The picture draws its background, so that it is
// readable on a light and on a dark page.
const (
	ownFore = "#d8dee6"
	ownBack = "#161b22"
)

// A Cell is one character of a screen.
type Cell struct {
	Rune rune
	Style
}

// A Style is the look of a character. A colour is "#rrggbb", or "" for the
// terminal's own.
type Style struct {
	Fore, Back         string
	Bold, Dim, Reverse bool
}

// A drawing is an SVG being written.
type drawing struct{ strings.Builder }

// Write draws the lines of a screen as SVG. The title says what the picture
// shows to those who can't see it.
func Write(w io.Writer, screen [][]Cell, title string) error {
	columns := 0
	for _, line := range screen {
		columns = max(columns, len(line))
	}
	width, height := float64(columns)*cellWidth+2*margin, float64(len(screen))*cellHeight+2*margin
	var p drawing
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
func (p *drawing) line(line []Cell, top float64) {
	for from := 0; from < len(line); {
		to := from + 1
		for to < len(line) && alike(line[from], line[to]) {
			to++
		}
		p.run(line[from:to], margin+float64(from)*cellWidth, top)
		from = to
	}
}

// alike reports whether two cells can be drawn together: text of one style,
// or the same block in one style.
func alike(a, b Cell) bool {
	return a.Style == b.Style && (a.Rune == b.Rune || block(a.Rune) == nil && block(b.Rune) == nil)
}

// run draws cells that are alike.
func (p *drawing) run(cells []Cell, left, top float64) {
	s := cells[0].Style
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
func opacity(s Style) float64 {
	if s.Dim {
		return 0.65
	}
	return 1
}

func (p *drawing) rect(x, y, width, height float64, fill string, opacity float64) {
	fmt.Fprintf(p, `<rect x="%.1f" y="%.2f" width="%.1f" height="%.2f" fill="%s"`, x, y, width,
		height, fill)
	if opacity < 1 {
		fmt.Fprintf(p, ` fill-opacity="%.2f"`, opacity)
	}
	p.WriteString(" shape-rendering=\"crispEdges\"/>\n")
}

// text draws characters. It sets the text's length, so that columns are
// aligned in every font.
func (p *drawing) text(cells []Cell, left, top float64, fill string) {
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
	if s := cells[0].Style; s.Dim {
		fmt.Fprintf(p, ` fill-opacity="%.2f"`, opacity(s))
	} else if s.Bold {
		p.WriteString(` font-weight="bold"`)
	}
	fmt.Fprintf(p, ">%s</text>\n", escape(trimmed))
}

// A shape is the part of a cell that a block character fills, from its top: 0
// is the top and 1 the bottom of the cell.
type shape struct{ from, to, opacity float64 }

// block returns the shape of a block character, or of a horizontal line; nil
// for other characters. Fonts draw these with gaps between the cells.
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
