package hotspots

import (
	"math/big"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/vectors"
	"github.com/cpprof/cpprof/views/calltree"
)

// TestVectorsSearch compares the search over call paths with the vectors.
func TestVectorsSearch(t *testing.T) {
	for _, file := range vectors.Files(t, "search*.json") {
		var v searches
		vectors.Decode(t, file, &v)
		if len(v.Cases) == 0 {
			t.Errorf("%s: no cases", file)
		}
		for i := range v.Cases {
			t.Run(v.Cases[i].Name, func(t *testing.T) { compare(t, &v.Cases[i]) })
		}
	}
}

// above is a Test without uncertainty: the cost is above a
// threshold, or it is not.
func above(threshold *big.Rat) Test {
	return func(m *calltree.Metric, s Stacks) Verdict {
		if m.Cost(s.Weight).Cmp(threshold) > 0 {
			return Yes
		}
		return No
	}
}

func compare(t *testing.T, c *searchCase) {
	tree := c.Tree(t)
	found := FindPaths(tree, above(&c.Threshold.Rat))
	costs := map[string]*big.Rat{}
	for _, n := range found.TopDown {
		costs[pathTo(tree, n)] = tree.Main().Cost(tree.Main().Cum(n))
	}
	same(t, "top-down", costs, c.TopDown)
	costs = map[string]*big.Rat{}
	for _, s := range found.Deep {
		costs["* .."+tree.Symbols().Name(s.Func)] = tree.Main().Cost(s.Weight)
	}
	same(t, "deep", costs, c.Deep)
}

func same(t *testing.T, what string, got map[string]*big.Rat, want []costedPath) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d paths, want %d", what, len(got), len(want))
	}
	for _, w := range want {
		if cost := got[w.Path]; cost == nil || cost.Cmp(&w.Cost.Rat) != 0 {
			t.Errorf("%s: %s costs %v, want %s", what, w.Path, cost, w.Cost.RatString())
		}
	}
}

func pathTo(t *calltree.Tree, n int32) string { return strings.Join(t.Frames(n), " ") }
