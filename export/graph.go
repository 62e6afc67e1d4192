package export

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/search"
)

// The formats of the call graph that a search has coloured: its bottlenecks by their share, and the callees that it looked at.
var (
	dot = Format{Name: "dot", Help: "the call paths that are bottlenecks, coloured, for Graphviz; also svg, drawn", File: "graph.dot", Write: writeDot}
	svg = Format{Name: "svg", Help: "the same, drawn", File: "graph.svg", Write: writeSVG}
)

// A callGraph is the part of a call tree that a search over its call paths has seen.
type callGraph struct {
	title string
	nodes []graphNode // in preorder: the root first
}

// A graphNode is a call path.
type graphNode struct {
	name       string
	parent     int
	share      float64 // of the whole
	bottleneck bool
	deep       bool // its function is a bottleneck, though no path to it is one
}

const (
	graphThreshold = 10    // the root's cost over the least cost of a bottleneck
	leastShown     = 0.005 // the least share of the whole that is drawn
	mostNodes      = 500
	graphName      = 48 // the width of a name
)

func newCallGraph(s *Subject) (*callGraph, error) {
	if s.Compared() {
		return nil, errors.New("a comparison has no bottlenecks: leave out --against")
	}
	t, err := s.Tree()
	if err != nil {
		return nil, err
	}
	m := t.Main()
	whole := m.Cum(0)
	if whole.Sign() <= 0 { // nothing was seen
		return &callGraph{title: s.Title, nodes: []graphNode{{name: termtext.Printable(t.Root())}}}, nil
	}
	paths := search.FindPaths(t, search.Above(new(big.Rat).Quo(m.Cost(whole), big.NewRat(graphThreshold, 1))))
	in, deep := map[int32]bool{0: true}, map[calltree.Func]bool{}
	for _, n := range paths.TopDown {
		in[n] = true
	}
	for _, d := range paths.Deep {
		deep[d.Func] = true
	}
	g := &callGraph{title: s.Title}
	at := map[int32]int{} // by node of the tree
	for n := range int32(t.Len()) {
		name, parent := t.Root(), int32(0)
		if n > 0 {
			name, parent = t.Symbols().Name(t.Funcs()[n]), t.Parents()[n]
		}
		share, _ := new(big.Rat).Quo(m.Cum(n), whole).Float64()
		above, drawn := at[parent]
		if n > 0 && (!drawn || !in[parent] || share < leastShown) || len(g.nodes) == mostNodes {
			continue
		}
		at[n] = len(g.nodes)
		g.nodes = append(g.nodes, graphNode{
			name: termtext.ShortenPath(termtext.Printable(name), graphName), parent: above, share: share, bottleneck: n > 0 && in[n], deep: n > 0 && deep[t.Funcs()[n]],
		})
	}
	return g, nil
}

// colour returns the colour of a node: the redder, the more of the whole it has; grey if it is no bottleneck.
func (n *graphNode) colour() string {
	if !n.bottleneck {
		return "#eceff1"
	}
	pale := int(225 - 150*n.share)
	return fmt.Sprintf("#ff%02x%02x", pale, pale*9/10)
}

// border returns the colour of a node's border.
func (n *graphNode) border() string {
	if n.deep {
		return "#b71c1c"
	}
	return "#607d8b"
}

func (n *graphNode) percent() string { return fmt.Sprintf("%.1f %%", 100*n.share) }

// dotText quotes a text as Graphviz does.
var dotText = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func writeDot(w io.Writer, s *Subject) error {
	g, err := newCallGraph(s)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "digraph calls {\n\trankdir=LR\n\tlabel=\"%s\"\n\tnode [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\", fontsize=11]\n",
		dotText.Replace(termtext.Printable(g.title)))
	for i := range g.nodes {
		n := &g.nodes[i]
		fmt.Fprintf(out, "\tn%d [label=\"%s\\n%s\", fillcolor=\"%s\", color=\"%s\"]\n", i, dotText.Replace(n.name), n.percent(), n.colour(), n.border())
		if i > 0 {
			fmt.Fprintf(out, "\tn%d -> n%d [label=\"%s\", penwidth=%.1f]\n", n.parent, i, n.percent(), 0.5+4*n.share)
		}
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}

// The sizes of the drawing, in pixels.
const (
	letterWidth = 6.6
	boxHeight   = 34.0
	rowHeight   = 44.0
	columnGap   = 60.0
	margin      = 12.0
)

// A box is where a node is drawn.
type box struct{ x, y, width float64 }

// layout places the nodes: callees are to the right of their callers, each leaf in a row of its own.
func (g *callGraph) layout() (boxes []box, width, height float64) {
	boxes = make([]box, len(g.nodes))
	depth := make([]int, len(g.nodes))
	var widths []float64 // by depth
	leaf := make([]bool, len(g.nodes))
	for i := range g.nodes {
		n := &g.nodes[i]
		if leaf[i] = true; i > 0 {
			depth[i], leaf[n.parent] = depth[n.parent]+1, false
		}
		boxes[i].width = 16 + letterWidth*float64(max(len([]rune(n.name)), len(n.percent())))
		if depth[i] == len(widths) {
			widths = append(widths, 0)
		}
		widths[depth[i]] = max(widths[depth[i]], boxes[i].width)
	}
	lefts, x := make([]float64, len(widths)), margin
	for d, w := range widths {
		lefts[d] = x
		x += w + columnGap
	}
	y := margin + rowHeight // below the title
	first := make([]float64, len(g.nodes))
	last := make([]float64, len(g.nodes))
	for i := range g.nodes {
		boxes[i].x = lefts[depth[i]]
		if leaf[i] {
			first[i], last[i] = y, y
			y += rowHeight
		}
	}
	for i := len(g.nodes) - 1; i >= 0; i-- { // callees come after their callers
		boxes[i].y = (first[i] + last[i]) / 2
		if p := g.nodes[i].parent; i > 0 {
			if first[p] == 0 || first[i] < first[p] {
				first[p] = first[i]
			}
			last[p] = max(last[p], last[i])
		}
	}
	return boxes, x - columnGap + margin, y + margin
}

func writeSVG(w io.Writer, s *Subject) error {
	g, err := newCallGraph(s)
	if err != nil {
		return err
	}
	boxes, width, height := g.layout()
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" font-family="sans-serif" font-size="12">`+"\n",
		width, height, width, height)
	fmt.Fprintf(out, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", xmlText(g.title))
	fmt.Fprintf(out, `<text x="%.0f" y="%.0f" font-weight="bold">%s</text>`+"\n", margin, 2*margin, xmlText(g.title))
	for i := range g.nodes {
		n, b := &g.nodes[i], boxes[i]
		if i > 0 {
			p := boxes[n.parent]
			x, y, middle := p.x+p.width, p.y+boxHeight/2, b.x-columnGap/2
			fmt.Fprintf(out, `<path d="M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f" fill="none" stroke="%s" stroke-width="%.1f"/>`+"\n",
				x, y, middle, y, middle, b.y+boxHeight/2, b.x, b.y+boxHeight/2, "#90a4ae", 0.5+5*n.share)
		}
		fmt.Fprintf(out, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.0f" rx="4" fill="%s" stroke="%s"/>`+"\n", b.x, b.y, b.width, boxHeight, n.colour(), n.border())
		fmt.Fprintf(out, `<text x="%.1f" y="%.1f">%s</text><text x="%.1f" y="%.1f" fill="#37474f">%s</text>`+"\n",
			b.x+8, b.y+14, xmlText(n.name), b.x+8, b.y+28, n.percent())
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

func xmlText(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(termtext.Printable(text)))
	return b.String()
}
