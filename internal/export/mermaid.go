package export

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/internal/termtext"
)

var mermaid = Format{Name: "mermaid",
	Help: "the same, in Mermaid, for Markdown",
	File: "graph.mmd", Intervals: true, write: drawn(writeMermaid)}

// mostDrawn bounds the nodes: GitHub draws no text of more than 50 kB.
const mostDrawn = 60

func writeMermaid(out *bufio.Writer, g *callGraph) {
	fmt.Fprintf(out, "%%%% %s: %s\nflowchart LR\n", mermaidText(g.title), mermaidText(g.legend))
	least := g.least()
	drawn := make([]bool, len(g.nodes))
	for i := range g.nodes {
		n := &g.nodes[i]
		if drawn[i] = i == 0 || drawn[n.parent] && n.most() > least; !drawn[i] {
			continue
		}
		var lines strings.Builder
		for _, line := range n.lines() {
			lines.WriteString(mermaidText(line) + "<br>")
		}
		fmt.Fprintf(out, "n%d[\"%s%s\"]\nstyle n%d fill:%s,stroke:%s,color:#000\n", i, lines.String(),
			mermaidText(n.percent()), i, n.fill(), n.border())
		if i > 0 {
			fmt.Fprintf(out, "n%d --> n%d\n", n.parent, i)
		}
	}
}

// most returns the larger share of the sides.
func (n *graphNode) most() (share float64) {
	for _, side := range n.sides {
		share = max(share, side.share.Share)
	}
	return share
}

// least returns the share that at most mostDrawn nodes exceed.
func (g *callGraph) least() float64 {
	shares := lists.Each(g.nodes, func(n graphNode) float64 { return -n.most() })
	slices.Sort(shares)
	if len(shares) <= mostDrawn {
		return 0
	}
	return -shares[mostDrawn]
}

// mermaidText writes what is no letter, digit or harmless sign
// as Mermaid does: by its number.
func mermaidText(text string) string {
	var b strings.Builder
	for _, c := range termtext.Printable(text) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune(" .,:/_", c) {
			b.WriteRune(c)
		} else {
			fmt.Fprintf(&b, "#%d;", c)
		}
	}
	return b.String()
}
