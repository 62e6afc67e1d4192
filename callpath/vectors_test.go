package callpath

import (
	"os"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/vectors"
	"github.com/cpprof/cpprof/views/calltree"
)

// TestVectorsCost compares every cost of the vectors with Cost;
// package refine tests the refinements.
func TestVectorsCost(t *testing.T) {
	for _, file := range vectors.Files(t, "callpath*.json") {
		f := fixture.Must(os.Open(file))(t)
		defer f.Close()
		v, err := vectors.ReadCallPaths(f)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		queries := 0
		for i := range v.Cases {
			tree, m, err := v.Cases[i].Tree()
			fixture.Check(t, err)
			fixture.Check(t, tree.Check())
			for _, q := range v.Cases[i].Queries {
				if q.Op == "cost" {
					queries++
					checkCost(t, i, tree, m, q)
				}
			}
		}
		t.Logf("%s: %d cases, %d costs", file, len(v.Cases), queries)
	}
}

func checkCost(t *testing.T, i int, tree *calltree.Tree, m *calltree.Membership, q vectors.CallPathQuery) {
	t.Helper()
	p, err := Parse(q.Path)
	if err != nil {
		t.Errorf("case %d: %v", i, err)
		return
	}
	if q.Hits == nil {
		t.Errorf("case %d: cost of %s: no hits given", i, q.Path)
		return
	}
	if got := Total(tree, m, p).Weight; got.Cmp(&q.Hits.Rat) != 0 {
		t.Errorf("case %d: cost of %s: %s hits, want %s", i, q.Path, got.RatString(), q.Hits.RatString())
	}
}
