package export

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/views"
)

// The call graph has the root and all bottlenecks, each below its caller, with a share that is not larger than the caller's.
func TestCallGraph(t *testing.T) {
	s := subject(t, synthetic.Recording(50, 30, 0.3), views.Options{}, views.Server)
	g, err := newCallGraph(s)
	if err != nil {
		t.Fatal(err)
	}
	bottlenecks := 0
	for i, n := range g.nodes {
		if i > 0 && (n.parent >= i || n.share > g.nodes[n.parent].share+1e-9) {
			t.Errorf("node %d: %+v below %+v", i, n, g.nodes[n.parent])
		}
		if n.bottleneck != (i > 0 && n.share > 0.1) {
			t.Errorf("%s has %s; a bottleneck: %v", n.name, n.percent(), n.bottleneck)
		}
		if n.bottleneck {
			bottlenecks++
		}
	}
	if bottlenecks == 0 {
		t.Error("there are no bottlenecks")
	}
	boxes, width, height := g.layout()
	for i, b := range boxes {
		if b.x < 0 || b.y < rowHeight || b.x+b.width > width || b.y+boxHeight > height {
			t.Errorf("node %d is at %+v, outside of %v x %v", i, b, width, height)
		}
		for j := range i {
			if o := boxes[j]; o.x == b.x && o.y < b.y+boxHeight && b.y < o.y+boxHeight {
				t.Errorf("nodes %d and %d are in one place: %+v, %+v", j, i, o, b)
			}
		}
	}
	text := write(t, "dot", s)
	if got := strings.Count(text, " -> "); got != len(g.nodes)-1 || !strings.HasPrefix(text, "digraph") || !strings.HasSuffix(text, "}\n") {
		t.Errorf("%d edges, want %d: %.300s", got, len(g.nodes)-1, text)
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
	if got := strings.Count(picture, "<rect x="); got != len(g.nodes) {
		t.Errorf("%d boxes, want %d", got, len(g.nodes))
	}
}
