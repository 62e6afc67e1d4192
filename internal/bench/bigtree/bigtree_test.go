package bigtree

import (
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

func TestTreeHasThePlannedShape(t *testing.T) {
	tree := New(200_000, 5_000)
	fixture.Check(t, tree.Check())
	depth := make([]int, tree.Len())
	var sum int
	for n, p := range tree.Parents() {
		if n > 0 {
			depth[n] = depth[p] + 1
			sum += depth[n]
		}
	}
	if mean := float64(sum) / float64(tree.Len()); tree.Len() != 200_000 || mean < 30 || mean > 38 {
		t.Errorf("%d nodes, %.1f deep on average", tree.Len(), mean)
	}
}
