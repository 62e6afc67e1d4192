package export

import (
	"encoding/xml"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/refine/hotspots"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

// The call graph has the root and all bottlenecks, each below
// its caller, with a share that is not larger than the caller's.
func TestCallGraph(t *testing.T) {
	s := subject(t, synthetic.Recording(50, 30, 0.3), views.Options{Slices: true}, views.Server)
	g := fixture.Must(newCallGraph(s))(t)
	of := map[hotspots.Colour]int{}
	for i, n := range g.nodes {
		if i > 0 && (n.parent >= i || n.sides[0].share.Share > g.nodes[n.parent].sides[0].share.Share+1e-9) {
			t.Errorf("node %d: %+v below %+v", i, n, g.nodes[n.parent])
		}
		if i > 0 && n.colour != map[hotspots.Verdict]hotspots.Colour{hotspots.Yes: hotspots.Accepted, hotspots.Maybe: hotspots.Frontier, hotspots.No: hotspots.Rejected}[n.sides[0].share.Against(0.1)] {
			t.Errorf("%v has %s; its colour is %d", n.names, n.percent(), n.colour)
		}
		of[n.colour]++
	}
	if of[hotspots.Accepted] == 0 || of[hotspots.Frontier] == 0 || of[hotspots.Rejected] == 0 {
		t.Errorf("nodes by colour: %v, want some of each", of)
	}
	boxes, width, height := g.layout()
	for i, b := range boxes {
		if b.x < 0 || b.y < headHeight || b.x+b.width > width || b.y+b.height > height {
			t.Errorf("node %d is at %+v, outside of %v x %v", i, b, width, height)
		}
		if g.nodes[i].parent < i && b.x <= boxes[g.nodes[i].parent].x {
			t.Errorf("node %d is not to the right of its caller", i)
		}
		for j := range i {
			if o := boxes[j]; o.x == b.x && o.y < b.y+b.height && b.y < o.y+o.height {
				t.Errorf("nodes %d and %d are in one place: %+v, %+v", j, i, o, b)
			}
		}
	}
	text := write(t, "dot", s)
	if got := strings.Count(text, " -> "); got != len(g.nodes)-1 || !strings.HasPrefix(text, "digraph") || !strings.HasSuffix(text, "}\n") {
		t.Errorf("%d edges, want %d: %.300s", got, len(g.nodes)-1, text)
	}
	if text := write(t, "mermaid", s); strings.Count(text, " --> ") != len(g.nodes)-1 || !strings.Contains(text, "\nflowchart LR\nn0[\"") {
		t.Errorf("want %d edges: %.300s", len(g.nodes)-1, text)
	}
	picture := write(t, "svg", s)
	d := xml.NewDecoder(strings.NewReader(picture))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(picture, "<g>"); got != len(g.nodes) {
		t.Errorf("%d boxes, want %d", got, len(g.nodes))
	}
}

// A chain in which nearly nothing is lost is one node with the
// names of all, and typed time is that of the calls below.
func TestCallGraphJoinsChains(t *testing.T) {
	b := calltree.NewBuilder(new(calltree.Symbols), "go:main.worker", "time", views.Nanoseconds)
	b.Add(0, b.Stack("main.worker", "main.serve", "main.add", ":MONITOR"), 70, 1)
	b.Add(0, b.Stack("main.worker", "main.serve", "main.encode", ":RUN"), 30, 1)
	b.SetDenominator(0, big.NewRat(100, 1))
	tree := fixture.Must(b.Tree())(t)
	session := refine.NewSession(tree, calltree.NewMembership(tree.Symbols(), nil, nil))
	g := fixture.Must(
		newCallGraph(&Subject{Title: "Thread View of go:main.worker", Session: session}))(t)
	want := [][]string{{"go:main.worker"}, {"main.worker", "main.serve"}, {"main.add", ":MONITOR"}, {"main.encode", ":RUN"}}
	for i, n := range g.nodes {
		if i >= len(want) || !slices.Equal(n.names, want[i]) {
			t.Errorf("node %d is %v", i, n.names)
		}
	}
	if got := g.nodes[1].sides[0].typed; len(g.nodes) != len(want) || got[views.Monitor] != 70 || got[views.Run] != 30 || got[views.Wait] != 0 {
		t.Errorf("%d nodes, want %d; typed time %v, want 70 of :MONITOR and 30 of :RUN", len(g.nodes), len(want), got)
	}
}

// Mermaid's picture has the largest nodes of a large graph, each
// with its caller, and no character that means something there.
func TestMermaid(t *testing.T) {
	b := calltree.NewBuilder(new(calltree.Symbols), "go:main.worker", "time", views.Nanoseconds)
	for i := range 150 {
		b.Add(0, b.Stack(fmt.Sprintf(`main.f%d["]`, i/2), fmt.Sprintf("main.g%d%%%%", i)), int64(1000+i), 1)
	}
	b.SetDenominator(0, big.NewRat(150_000, 1))
	tree := fixture.Must(b.Tree())(t)
	text := write(t, "mermaid", &Subject{Title: "a\nb", Session: refine.NewSession(tree, calltree.NewMembership(tree.Symbols(), nil, nil))})
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	drawn := map[string]bool{}
	line := regexp.MustCompile(`^(n\d+)(\["[\w #;:.,/<>]*"\]| --> (n\d+)|)$`)
	for _, l := range lines[2:] {
		if strings.HasPrefix(l, "style n") {
			continue
		}
		m := line.FindStringSubmatch(l)
		if m == nil || m[3] != "" && (!drawn[m[1]] || !drawn[m[3]]) {
			t.Fatalf("line %q", l)
		}
		drawn[m[1]] = true
	}
	if len(drawn) < mostDrawn/2 || len(drawn) > mostDrawn+1 || len(text) > 50_000 {
		t.Errorf("%d nodes, %d bytes", len(drawn), len(text))
	}
}
