package views

import (
	"math"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views/calltree"
	"pgregory.net/rapid"
)

// checkSlices compares the sums of a tree's slices with its
// weights, node by node.
func checkSlices(t *rapid.T, what string, tree *calltree.Tree) {
	m := tree.Main()
	s := m.Slices()
	if s == nil {
		t.Fatalf("%s: no slices", what)
	}
	near := func(what string, hits []float64, want interface{ Float64() (float64, bool) }) {
		sum := 0.0
		for i, h := range hits {
			sum += h * s.Lengths[i]
		}
		if w, _ := want.Float64(); math.Abs(sum-w) > 1e-6*max(1, w) {
			t.Fatalf("%s: the slices sum up to %v, want %v", what, sum, w)
		}
	}
	near(what+", the whole", s.Whole, m.Denominator)
	for n := range int32(tree.Len()) {
		near(what+": "+tree.Symbols().Name(tree.Funcs()[n]), s.Hits([2]int32{n, tree.Ends()[n]}), m.Cum(n))
	}
}

// The slices of any view have its weights, also if it is
// filtered, or merged with another one.
func TestSlicesOfViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, o := drawRecording(t), drawOptions(t)
		server := fixture.Must(Server(r, o))(t)
		if server.Tree.Main().Slices() != nil {
			t.Fatal("slices that nobody asked for")
		}
		o.Slices = true
		server = fixture.Must(Server(r, o))(t)
		checkSlices(t, "server", server.Tree)
		threads := fixture.Must(Threads(r, o))(t)
		checkSlices(t, "threads", threads.Tree)
		kept := make([]bool, threads.Tree.Len())
		for i := range kept {
			kept[i] = rapid.Bool().Draw(t, "kept")
		}
		checkSlices(t, "filtered", threads.Tree.Filter(kept))
		both := fixture.Must(calltree.Merge(server.Tree, threads.Tree))(t)
		a, b := both.Sides()
		checkSlices(t, "the one side", a)
		checkSlices(t, "the other side", b)
	})
}
