package export

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/calltree"
	"github.com/cpprof/cpprof/internal/termtext"
	"github.com/cpprof/cpprof/search"
	"github.com/cpprof/cpprof/views"
)

// The formats of the call graph that a search has coloured: its bottlenecks by their share, and the callees that it looked at.
var (
	dot = Format{Name: "dot", Help: "the call paths that are bottlenecks, coloured, for Graphviz; also svg, drawn", File: "graph.dot", oneOnly: oneGraph, write: writeDot}
	svg = Format{Name: "svg", Help: "the same, drawn", File: "graph.svg", oneOnly: oneGraph, write: writeSVG}
)

const oneGraph = "the graph shows the bottlenecks of one recording"

// A callGraph is the part of a call tree that a search over its call paths has seen.
type callGraph struct {
	title string
	nodes []graphNode // in preorder: the root first
}

// A graphNode is a call path, or several of which each has nearly all the time of the one before.
type graphNode struct {
	names  []string // the last frames of the paths
	parent int
	colour search.Colour
	share  search.Estimate // of the whole
	deep   bool            // its function is a bottleneck, though no path to it is one

	typed [views.NumTypedTimes]float64 // what its time is, in any unit; nothing if the view has no typed time
}

const (
	leastShown = 0.005 // the least share of the whole that is drawn
	mostNodes  = 500
	graphName  = 48 // the width of a name
	mostLines  = 13 // of a node: names

	nothingLost = 0.95 // the least share that a call keeps if the two are drawn as one
)

func newCallGraph(s *Subject) (*callGraph, error) {
	t, err := s.Tree()
	if err != nil {
		return nil, err
	}
	samples := 0
	if s.Recording != nil && s.Recording.Profile == nil {
		from, to, err := s.Options.Span.Samples(s.Recording)
		if err != nil {
			return nil, err
		}
		samples = int(to - from)
	}
	found := search.ColourPaths(t, search.DefaultThreshold, samples)
	g := &callGraph{title: s.Title, nodes: []graphNode{{names: []string{termtext.Printable(t.Root())}, share: found.Share(0)}}}
	at := make([]int32, t.Len()) // by node of the tree: the nearest drawn one, at or above it
	for n := int32(1); int(n) < t.Len(); n++ {
		parent := t.Parents()[n]
		at[n] = at[parent]
		if found.Colour(n) == search.Untried || len(g.nodes) == mostNodes {
			continue
		}
		share := found.Share(n)
		if share.Share < leastShown {
			continue
		}
		at[n] = int32(len(g.nodes))
		g.nodes = append(g.nodes, graphNode{
			names:  []string{termtext.Printable(t.Symbols().Name(t.Funcs()[n]))},
			parent: int(at[parent]), colour: found.Colour(n), share: share, deep: found.IsDeep(n),
		})
	}
	g.addTyped(t, at)
	g.join()
	return g, nil
}

// addTyped sums up the typed time of each node.
func (g *callGraph) addTyped(t *calltree.Tree, at []int32) {
	m := t.Main()
	for n := int32(1); int(n) < t.Len(); n++ {
		if typed, ok := views.ParseTypedTime(t.Symbols().Name(t.Funcs()[n])); ok {
			weight, _ := m.Cum(n).Float64()
			g.nodes[at[n]].typed[typed] += weight
			n = t.Ends()[n] - 1 // what is below is a holder's, or says more about the same time
		}
	}
	for i := len(g.nodes) - 1; i > 0; i-- { // callees come after their callers
		n := &g.nodes[i]
		for typed, weight := range n.typed {
			g.nodes[n.parent].typed[typed] += weight
		}
	}
}

// join makes one node of those that follow one another, if nothing else is drawn between them and nearly nothing is lost. The root remains
// by itself.
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
			same := callees[n.parent] == 1 && n.parent > 0 && n.colour == up.colour && n.deep == up.deep
			n.parent = into[n.parent]
			if same && n.share.Share >= nothingLost*up.share.Share {
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

// lines returns the names of a node as they are written: of a long chain, the first and the last.
func (n *graphNode) lines() (lines []string) {
	for _, name := range n.names {
		lines = append(lines, termtext.ShortenPath(name, graphName))
	}
	if k := len(lines); k > mostLines {
		half := mostLines / 2
		lines[half] = fmt.Sprintf("… %d more", k-2*half)
		lines = slices.Delete(lines, half+1, k-half)
	}
	return lines
}

// fill returns the colour of a node: the redder, the more of the whole it has; yellow if it may be a bottleneck, and grey if it is none.
func (n *graphNode) fill() string {
	switch n.colour {
	case search.Bottleneck:
		pale := int(228 - 110*n.share.Share)
		return fmt.Sprintf("#ff%02x%02x", pale, pale*9/10)
	case search.Frontier:
		return "#fff3c4"
	}
	return "#eceff1"
}

// border returns the colour of a node's border.
func (n *graphNode) border() string {
	if n.deep {
		return "#b71c1c"
	}
	return "#607d8b"
}

// percent returns the share with its interval: "12.3 ± 2.1 %".
func (n *graphNode) percent() string {
	if margin := 100 * n.share.Margin(); margin >= 0.05 && n.colour != search.Untried {
		return fmt.Sprintf("%.1f ± %.1f %%", 100*n.share.Share, margin)
	}
	return n.edge()
}

// edge returns the share alone.
func (n *graphNode) edge() string { return fmt.Sprintf("%.1f %%", 100*n.share.Share) }

// dotText quotes a text as Graphviz does.
var dotText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func writeDot(w io.Writer, s *Subject) error {
	g, err := newCallGraph(s)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "digraph calls {\n\trankdir=LR\n\tlabel=\"%s\"\n\tnode [shape=box, style=\"filled,rounded\", fontname=\"sans-serif\", fontsize=11]\n\tedge [fontname=\"sans-serif\", fontsize=9]\n",
		dotText.Replace(termtext.Printable(g.title)))
	for i := range g.nodes {
		n := &g.nodes[i]
		fmt.Fprintf(out, "\tn%d [label=\"%s\\n%s\", tooltip=\"%s\", fillcolor=\"%s\", color=\"%s\"]\n",
			i, dotText.Replace(strings.Join(n.lines(), "\n")), n.percent(), dotText.Replace(strings.Join(n.names, " ")), n.fill(), n.border())
		if i > 0 {
			fmt.Fprintf(out, "\tn%d -> n%d [label=\"%s\", penwidth=%.1f]\n", n.parent, i, n.edge(), 0.5+4*n.share.Share)
		}
	}
	fmt.Fprintln(out, "}")
	return out.Flush()
}
