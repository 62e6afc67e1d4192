package export

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
	"github.com/cpprof/cpprof/why"
)

// The formats of the call graph that a search has coloured: its
// bottlenecks by their share, and the callees that it looked at.
// Of a comparison, it has what is a bottleneck in either
// recording, coloured by how the share differs.
var (
	dot = Format{Name: "dot",
		Help: "bottlenecks, for Graphviz; also svg, drawn, and mermaid, for GitHub's Markdown",
		File: "graph.dot", Intervals: true, write: drawn(writeDot)}
	svg = Format{Name: "svg", Help: "the same, drawn", File: "graph.svg", Intervals: true,
		write: drawn(writeSVG)}
)

// drawn returns a function that writes the call graph of a subject.
func drawn(draw func(*bufio.Writer, *callGraph)) func(io.Writer, *Subject) error {
	return func(w io.Writer, s *Subject) error {
		g, err := newCallGraph(s)
		if err != nil {
			return err
		}
		out := bufio.NewWriter(w)
		draw(out, g)
		return out.Flush()
	}
}

// A callGraph is the part of a call tree that a search over its
// call paths has seen.
type callGraph struct {
	title  string
	legend string
	nodes  []graphNode // in preorder: the root first
}

// A graphNode is a call path, or a chain of call paths. In a
// chain each one keeps nearly all the time of the one before.
type graphNode struct {
	names  []string // the last frames of the paths
	parent int
	colour hotspots.Colour
	// its function is a bottleneck, though no path to it is one;
	// not in a comparison
	deep  bool
	sides []graphSide // one; in a comparison new and old
}

// A graphSide is what one recording has of a node.
type graphSide struct {
	share hotspots.Estimate // of the whole
	// what its time is, in any unit; nothing if the view has no typed time
	typed [views.NumTypedTimes]float64
}

const (
	minShown  = 0.005 // the least share of the whole that is drawn
	maxNodes  = 500
	graphName = 48 // the width of a name
	maxLines  = 13 // of a node: names

	nothingLost = 0.95 // the least share that a call keeps if the two are drawn as one
)

const (
	graphLegend    = "red: a bottleneck, more than 10 %; yellow: perhaps, there are too few samples; grey: none; red border: wherever it is called"
	comparedLegend = "old is %s, new is %s; red: more in new; blue: less; grey: the same, or nearly, or there are too few samples"
)

func newCallGraph(s *Subject) (*callGraph, error) {
	t, err := s.Tree()
	if err != nil {
		return nil, err
	}
	searched := s.coloured(t)
	g := &callGraph{title: s.Title, legend: graphLegend}
	old := 1.0 // the factor of shares in old
	if s.Compared() {
		g.legend = fmt.Sprintf(comparedLegend, s.Against.Name, s.Path)
		// counts are compared, which are no times of recordings of any
		// length
		if whole := searched[0].Tree.Main().Denominator; s.Recording.Profile != nil &&
			whole.Sign() != 0 {
			old, _ = new(big.Rat).Quo(searched[1].Tree.Main().Denominator, whole).Float64()
			g.legend += "; shares are of all of new"
		}
	}
	at := make([]int32, t.Len()) // by node of the tree: the nearest drawn one, at or above it
	for n := range int32(t.Len()) {
		colour := hotspots.Untried
		for _, found := range searched {
			colour = max(colour, found.Colour(n))
		}
		if n > 0 {
			at[n] = at[t.Parents()[n]]
			if colour == hotspots.Untried || len(g.nodes) == maxNodes {
				continue
			}
		}
		node := graphNode{
			names:  []string{termtext.Printable(t.Symbols().Name(t.Funcs()[n]))},
			parent: int(at[n]), colour: colour,
			deep: !s.Compared() && searched[0].IsDeep(n),
		}
		most := 0.0
		for i, found := range searched {
			share := found.Share(n)
			if i == 1 {
				share.Share, share.Low, share.High = share.Share*old, share.Low*old, share.High*old
			}
			most = max(most, share.Share)
			node.sides = append(node.sides, graphSide{share: share})
		}
		if n > 0 && most < minShown {
			continue
		}
		at[n] = int32(len(g.nodes))
		g.nodes = append(g.nodes, node)
	}
	for i, found := range searched {
		g.addTyped(found.Tree, i, at)
	}
	g.join()
	return g, nil
}

// coloured searches the tree. For a comparison, it searches both sides.
func (s *Subject) coloured(t *calltree.Tree) []*hotspots.Coloured {
	trees := []*calltree.Tree{t}
	if s.Compared() {
		a, b := t.Sides()
		trees = []*calltree.Tree{a, b}
	}
	return lists.Each(trees, func(t *calltree.Tree) *hotspots.Coloured {
		return hotspots.ColourPaths(t, why.DefaultThreshold)
	})
}

// addTyped sums up the typed time of each node, on one side.
func (g *callGraph) addTyped(t *calltree.Tree, side int, at []int32) {
	m := t.Main()
	for n := int32(1); int(n) < t.Len(); n++ {
		if typed, ok := views.ParseTypedTime(t.Symbols().Name(t.Funcs()[n])); ok {
			weight, _ := m.Cum(n).Float64()
			g.nodes[at[n]].sides[side].typed[typed] += weight
			n = t.Ends()[n] - 1 // what is below is a holder's, or says more about the same time
		}
	}
	for i := len(g.nodes) - 1; i > 0; i-- { // callees come after their callers
		n := &g.nodes[i]
		for typed, weight := range n.sides[side].typed {
			g.nodes[n.parent].sides[side].typed[typed] += weight
		}
	}
}

// join makes one node of nodes that follow one another, if
// nothing else is drawn between them and nearly nothing is lost.
// The root remains by itself.
func (g *callGraph) join() {
	callees := make([]int, len(g.nodes))
	for _, n := range g.nodes[1:] {
		callees[n.parent]++
	}
	into := make([]int, len(g.nodes)) // by the number of a node: its new number
	var joined []graphNode
	for i, n := range g.nodes {
		if i > 0 {
			up := &g.nodes[n.parent]
			same := callees[n.parent] == 1 && n.parent > 0 && n.colour == up.colour &&
				n.deep == up.deep
			n.parent = into[n.parent]
			if same && n.hasAllOf(up) {
				into[i] = n.parent
				joined[n.parent].names = append(joined[n.parent].names, n.names...)
				continue
			}
		}
		into[i] = len(joined)
		joined = append(joined, n)
	}
	g.nodes = joined
}

// hasAllOf reports whether nearly nothing of another node is not in n.
func (n *graphNode) hasAllOf(up *graphNode) bool {
	for i := range n.sides {
		if n.sides[i].share.Share < nothingLost*up.sides[i].share.Share {
			return false
		}
	}
	return true
}

// lines returns the names of a node as they are written: of a
// long chain, the first and the last.
func (n *graphNode) lines() (lines []string) {
	lines = lists.Each(n.names, func(name string) string { return termtext.ShortenPath(name, graphName) })
	if k := len(lines); k > maxLines {
		half := maxLines / 2
		lines[half] = fmt.Sprintf("… %d more", k-2*half)
		lines = slices.Delete(lines, half+1, k-half)
	}
	return lines
}

// difference returns the new share minus the old one, and how
// far it may be off.
func (n *graphNode) difference() (difference, margin float64) {
	a, b := n.sides[0].share, n.sides[1].share
	return a.Share - b.Share, math.Hypot(a.Margin(), b.Margin())
}

// fill returns the colour of a node: the redder, the more of the
// whole it has; yellow if it may be a bottleneck, and grey if it
// is none. In a comparison, it is the redder, the more the share
// grew, and the bluer, the more it shrank.
func (n *graphNode) fill() string {
	const none = "#eceff1"
	if len(n.sides) > 1 {
		d, margin := n.difference()
		pale := int(228 - 100*min(1, 2*math.Abs(d)))
		switch {
		case math.Abs(d) <= max(margin, minShown):
			return none
		case d > 0:
			return fmt.Sprintf("#ff%02x%02x", pale, pale)
		}
		return fmt.Sprintf("#%02x%02xff", pale, pale)
	}
	switch n.colour {
	case hotspots.Accepted:
		pale := int(228 - 110*n.sides[0].share.Share)
		return fmt.Sprintf("#ff%02x%02x", pale, pale*9/10)
	case hotspots.Frontier:
		return "#fff3c4"
	}
	return none
}

// border returns the colour of a node's border.
func (n *graphNode) border() string {
	if n.deep {
		return "#b71c1c"
	}
	return "#607d8b"
}

// percent returns the share with its interval: "12.3 ± 2.1 %";
// in a comparison, both shares and how they differ.
func (n *graphNode) percent() string {
	if len(n.sides) > 1 {
		d, margin := n.difference()
		text := fmt.Sprintf("old %.1f %%, new %.1f %%: %s", 100*n.sides[1].share.Share,
			100*n.sides[0].share.Share, signedPercent(d))
		if 100*margin >= 0.05 {
			text += fmt.Sprintf(" ± %.1f", 100*margin)
		}
		return text
	}
	share := n.sides[0].share
	if margin := 100 * share.Margin(); margin >= 0.05 && n.colour != hotspots.Untried {
		return fmt.Sprintf("%.1f ± %.1f %%", 100*share.Share, margin)
	}
	return n.edge()
}

// edge returns the share alone; in a comparison, how it differs.
func (n *graphNode) edge() string {
	if len(n.sides) > 1 {
		d, _ := n.difference()
		return signedPercent(d) + " %"
	}
	return fmt.Sprintf("%.1f %%", 100*n.sides[0].share.Share)
}

// signedPercent returns a difference of shares in percent, with its sign
// if it is not rounded to 0.
func signedPercent(d float64) string {
	if text := fmt.Sprintf("%+.1f", 100*d); text != "+0.0" && text != "-0.0" {
		return text
	}
	return "0.0"
}

// width returns how thick the line from the caller is, from 0 to
// 1: the share, or how much it differs.
func (n *graphNode) width() float64 {
	if len(n.sides) > 1 {
		d, _ := n.difference()
		return math.Abs(d)
	}
	return n.sides[0].share.Share
}

// dotText quotes a text as Graphviz does.
var dotText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func writeDot(out *bufio.Writer, g *callGraph) {
	fmt.Fprintf(out, "digraph calls {\n\trankdir=LR\n\tlabel=\"%s\\n%s\"\n\tnode [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\", fontsize=11]\n\tedge [fontname=\"sans-serif\", fontsize=9]\n",
		dotText.Replace(termtext.Printable(g.title)), dotText.Replace(termtext.Printable(g.legend)))
	for i := range g.nodes {
		n := &g.nodes[i]
		fmt.Fprintf(out, "\tn%d [label=\"%s\\n%s\", tooltip=\"%s\", fillcolor=\"%s\", color=\"%s\"]\n",
			i, dotText.Replace(strings.Join(n.lines(), "\n")), n.percent(),
			dotText.Replace(strings.Join(n.names, " ")), n.fill(), n.border())
		if i > 0 {
			fmt.Fprintf(out, "\tn%d -> n%d [label=\"%s\", penwidth=%.1f]\n", n.parent,
				i, n.edge(), 0.5+4*n.width())
		}
	}
	fmt.Fprintln(out, "}")
}
