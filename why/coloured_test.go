package why

import (
	"math/big"
	"testing"

	"github.com/cpprof/cpprof/views/calltree"
)

// Few samples leave more undecided than many, exact numbers leave nothing; below a call path that is no bottleneck, nothing is tried.
func TestColourPaths(t *testing.T) {
	tree := func(unit string, times int64) *calltree.Tree {
		b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", unit)
		b.Add(0, b.Stack("main.serve", "main.encode", ":RUN"), 12*times, 1)
		b.Add(0, b.Stack("main.serve", "main.log", ":RUN"), 2*times, 1)
		for _, caller := range []string{"a", "b", "c"} {
			b.Add(0, b.Stack("main."+caller, "main.sum", ":RUN"), 5*times, 1)
		}
		b.Add(0, b.Stack("main.idle", ":RUN"), 71*times, 1)
		b.SetDenominator(0, big.NewRat(100*times, 1))
		of, err := b.Tree()
		if err != nil {
			t.Fatal(err)
		}
		return of
	}
	for _, c := range []struct {
		what    string
		tree    *calltree.Tree
		samples int
		encode  Colour // 12 %
		log     Colour // 2 %
		deep    int    // main.sum: 15 % over three callers
	}{
		{"many samples", tree("samples", 100), 10_000, Bottleneck, Rejected, 1},
		{"few samples", tree("samples", 1), 100, Untried, Untried, 0},
		{"many goroutines in few samples", tree("samples", 100), 100, Untried, Untried, 0},
		{"bytes", tree("bytes", 1), 0, Bottleneck, Rejected, 1},
	} {
		got := ColourPaths(c.tree, 0.1, c.samples)
		for n := range int32(c.tree.Len()) {
			name, colour := c.tree.Symbols().Name(c.tree.Funcs()[n]), got.Colour(n)
			switch {
			case name == "main.encode" && colour != c.encode, name == "main.log" && colour != c.log:
				t.Errorf("%s: %s has the colour %d", c.what, name, colour)
			case name == "main.sum" && (colour != Untried || got.IsDeep(n) != (c.deep > 0)):
				t.Errorf("%s: %s has the colour %d, deep: %v", c.what, name, colour, got.IsDeep(n))
			}
		}
		if len(got.Deep) != c.deep || len(got.Frontier) > 0 != (c.what != "bytes" && c.samples < 1000) {
			t.Errorf("%s: %d deep starters, want %d; %d undecided", c.what, len(got.Deep), c.deep, len(got.Frontier))
		}
	}
	if e := ColourPaths(tree("samples", 1), 0.1, 100).Share(1); e.Share != 0.14 || e.Low > 0.1 || e.High < 0.2 {
		t.Errorf("main.serve has %+v, want 14 %% of a hundred samples", e)
	}
}
