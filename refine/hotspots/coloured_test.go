package hotspots

import (
	"testing"

	"github.com/cpprof/cpprof/views/calltree"
)

// Few samples leave more undecided than many, exact numbers
// leave nothing; below a call path that is no bottleneck,
// nothing is tried.
func TestColourPaths(t *testing.T) {
	stacks := []string{"12 main.serve main.encode :RUN", "2 main.serve main.log :RUN", "5 main.a main.sum :RUN", "5 main.b main.sum :RUN",
		"5 main.c main.sum :RUN", "71 main.idle :RUN"}
	for _, c := range []struct {
		what   string
		tree   *calltree.Tree
		encode Colour // 12 %
		log    Colour // 2 %
		deep   int    // main.sum: 15 % over three callers
	}{
		{"many samples", sampled(t, 100, calltree.RootName, stacks...), Accepted, Rejected, 1},
		{"few samples", sampled(t, 1, calltree.RootName, stacks...), Untried, Untried, 0},
		{"a profile", samples(t, calltree.RootName, stacks...), Accepted, Rejected, 1},
	} {
		got := ColourPaths(c.tree, 0.1)
		for n := range int32(c.tree.Len()) {
			name, colour := c.tree.Symbols().Name(c.tree.Funcs()[n]), got.Colour(n)
			switch {
			case name == "main.encode" && colour != c.encode, name == "main.log" && colour != c.log:
				t.Errorf("%s: %s has the colour %d", c.what, name, colour)
			case name == "main.sum" && (colour != Untried || got.IsDeep(n) != (c.deep > 0)):
				t.Errorf("%s: %s has the colour %d, deep: %v", c.what, name, colour, got.IsDeep(n))
			}
		}
		if len(got.Deep) != c.deep || len(got.Frontier) > 0 != (c.what == "few samples") {
			t.Errorf("%s: %d deep starters, want %d; %d undecided", c.what, len(got.Deep), c.deep, len(got.Frontier))
		}
	}
	if e := ColourPaths(sampled(t, 1, calltree.RootName, stacks...), 0.1).Share(1); e.Share != 0.14 || e.Low > 0.1 || e.High < 0.2 {
		t.Errorf("main.serve has %+v, want 14 %% of a hundred samples", e)
	}
}
