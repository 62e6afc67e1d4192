package export

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
	"github.com/rivo/uniseg"
)

// The sizes of the drawing, in pixels. Letters have one width.
const (
	letterWidth = 6.6
	letterSize  = 11
	lineHeight  = 14.0
	padding     = 8.0
	rowGap      = 10.0
	columnGap   = 50.0
	margin      = 12.0
	headHeight  = 66.0 // of the title and the legends
	strip       = 4.0  // of typed time, at the bottom of a box
	stripGap    = 1.0
)

// typedColours are the Analyzer's colours of typed time.
var typedColours = [views.NumTypedTimes]string{
	views.Run: "#4f9d55", views.Load: "#c98f16", views.Prio: "#a55bc0", views.Monitor: "#d0403f",
	views.Wait: "#5b82ad",
}

// A box is where a node is drawn.
type box struct{ x, y, width, height float64 }

func textWidth(text string) float64 { return letterWidth * float64(uniseg.StringWidth(text)) }

// layout places the nodes: callees stand to the right of their
// callers, one below the other. Each subtree has a range of rows
// of its own. Its node stands in the middle.
func (g *callGraph) layout() (boxes []box, width, height float64) {
	boxes = make([]box, len(g.nodes))
	depth := make([]int, len(g.nodes))
	below := make([]float64, len(g.nodes)) // the height of all callees
	var widths []float64                   // by depth
	for i := range g.nodes {
		n := &g.nodes[i]
		if i > 0 {
			depth[i] = depth[n.parent] + 1
		}
		widest := textWidth(n.percent())
		for _, line := range n.lines() {
			widest = max(widest, textWidth(line))
		}
		boxes[i].width = widest + 2*padding
		boxes[i].height = lineHeight*float64(len(n.lines())+1) + padding +
			(strip+stripGap)*float64(len(n.sides))
		if depth[i] == len(widths) {
			widths = append(widths, 0)
		}
		widths[depth[i]] = max(widths[depth[i]], boxes[i].width)
	}
	rows := func(i int) float64 { return max(boxes[i].height+rowGap, below[i]) }
	for i := len(g.nodes) - 1; i > 0; i-- { // callees come after their callers
		below[g.nodes[i].parent] += rows(i)
	}
	lefts, x := make([]float64, len(widths)), margin
	for d, w := range widths {
		lefts[d] = x
		x += w + columnGap
	}
	next := make([]float64, len(g.nodes)) // where the next callee begins
	for i := range g.nodes {
		top := headHeight
		if i > 0 {
			p := g.nodes[i].parent
			top = next[p]
			next[p] += rows(i)
		}
		boxes[i].x, boxes[i].y = lefts[depth[i]], top+(rows(i)-boxes[i].height)/2
		next[i] = top + (rows(i)-below[i])/2
	}
	return boxes, x - columnGap + margin, headHeight + rows(0) + margin
}

func writeSVG(out *bufio.Writer, g *callGraph) {
	boxes, width, height := g.layout()
	width = max(width, 2*margin+textWidth(g.legend), 2*margin+textWidth(g.title)*1.2)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="%d">`+"\n",
		width, height, width, height, letterSize)
	fmt.Fprintf(out, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", xmlText(g.title))
	fmt.Fprintf(out, `<text x="%.0f" y="%.0f" font-weight="bold" font-size="13">%s</text>`+"\n",
		margin, 1.5*margin, xmlText(g.title))
	g.writeLegends(out)
	for i := range g.nodes {
		if i > 0 {
			n, b, p := &g.nodes[i], boxes[i], boxes[g.nodes[i].parent]
			x, y, middle, end := p.x+p.width, p.y+p.height/2, b.x-columnGap/2, b.y+b.height/2
			fmt.Fprintf(out, `<path d="M%.1f %.1fL%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f" fill="none" stroke="#90a4ae" stroke-width="%.1f"/>`+"\n",
				x, y, b.x-columnGap, y, middle, y, middle, end, b.x, end, 0.5+5*n.width())
		}
	}
	for i := range g.nodes {
		g.nodes[i].write(out, boxes[i])
	}
	fmt.Fprintln(out, "</svg>")
}

// writeLegends writes what the colours mean.
func (g *callGraph) writeLegends(out *bufio.Writer) {
	fmt.Fprintf(out, `<text x="%.0f" y="%.0f" fill="#37474f">%s</text>`+"\n", margin,
		1.5*margin+lineHeight+2, xmlText(g.legend))
	if !slices.ContainsFunc(g.nodes[0].sides,
		func(s graphSide) bool { return s.typed != (graphSide{}).typed }) {
		return
	}
	x, y := margin, 1.5*margin+2*lineHeight+4
	for typed, colour := range typedColours {
		name := views.TypedTime(typed).String()
		fmt.Fprintf(out, `<rect x="%.1f" y="%.1f" width="10" height="10" fill="%s"/><text x="%.1f" y="%.1f" fill="#37474f">%s</text>`+"\n",
			x, y-9, colour, x+14, y, name)
		x += 14 + textWidth(name) + 14
	}
}

// write draws a node: its names, its share, and a strip of what
// its time is; in a comparison, two.
func (n *graphNode) write(out *bufio.Writer, b box) {
	dashes := ""
	if n.colour == hotspots.Frontier && len(n.sides) == 1 {
		dashes = ` stroke-dasharray="4 3"`
	}
	fmt.Fprintf(out, `<g><title>%s</title><rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="4" fill="%s" stroke="%s"%s/>`,
		xmlText(strings.Join(n.names, " ")), b.x, b.y, b.width, b.height, n.fill(),
		n.border(), dashes)
	y := b.y + lineHeight
	for _, line := range n.lines() {
		fmt.Fprintf(out, `<text x="%.1f" y="%.1f">%s</text>`, b.x+padding, y, xmlText(line))
		y += lineHeight
	}
	fmt.Fprintf(out, `<text x="%.1f" y="%.1f" font-weight="bold">%s</text>`, b.x+padding,
		y, n.percent())
	for i := range n.sides {
		n.sides[i].writeStrip(out, b.x+2, b.y+b.height-1-(strip+stripGap)*float64(len(n.sides)-i),
			b.width-4)
	}
	fmt.Fprintln(out, "</g>")
}

// writeStrip draws what the time of a side is.
func (s *graphSide) writeStrip(out *bufio.Writer, x, y, width float64) {
	whole := lists.Sum(s.typed[:], func(weight float64) float64 { return weight })
	for typed, weight := range s.typed {
		if weight > 0 {
			part := width * weight / whole
			fmt.Fprintf(out, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.0f" fill="%s"/>`,
				x, y, part, strip, typedColours[typed])
			x += part
		}
	}
}

func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(termtext.Printable(text)))
	return b.String()
}
