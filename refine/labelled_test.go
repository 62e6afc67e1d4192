package refine

import (
	"math/big"
	"testing"

	"github.com/cpprof/cpprof/callpath"
)

// A stack counts once in the overlap with labels, even if it
// satisfies several of them.
func TestLabelled(t *testing.T) {
	tree := build(t, "* a b", "* a b c", "* a d", "* e c", "* e")
	for _, c := range []struct {
		labels []string
		want   [3]int64 // of *, a and c
	}{
		{[]string{"* a b"}, [3]int64{2, 2, 1}},
		{[]string{"* a b", "* ..c"}, [3]int64{3, 2, 2}},
		{[]string{"* ..c", "* a", "* a d"}, [3]int64{4, 3, 2}},
		{[]string{"* gone"}, [3]int64{}},
	} {
		var labels []callpath.Path
		for _, l := range c.labels {
			labels = append(labels, parse(t, l))
		}
		shared := Labelled(tree, nil, labels)
		paths := []callpath.Path{parse(t, "*"), parse(t, "* a"), parse(t, "* ..c")}
		for i, got := range callpath.Totals(shared, nil, paths) {
			if got.Weight.Cmp(big.NewRat(c.want[i], 1)) != 0 {
				t.Errorf("%s shares %s hits with %v, want %d", paths[i], got.Weight, c.labels, c.want[i])
			}
		}
	}
}
