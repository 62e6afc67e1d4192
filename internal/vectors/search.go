package vectors

import (
	"math/big"
	"testing"

	"github.com/cpprof/cpprof/views/calltree"
)

// Searches is a file search*.json: call trees, and what a search over their
// call paths finds.
type Searches struct {
	Format string
	Cases  []SearchCase
}

// A SearchCase is one call tree.
type SearchCase struct {
	Name             string
	Stacks           []WeightedStack
	Total, Threshold Rat
	TopDown          []CostedPath `json:"top_down"`
	Deep             []CostedPath
	Shown            []string
}

// A CostedPath is a call path and its cost.
type CostedPath struct {
	Path string
	Cost Rat
}

// Tree returns the call tree of a case.
func (c *SearchCase) Tree(t testing.TB) *calltree.Tree {
	t.Helper()
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "hits", "samples")
	for _, s := range c.Stacks {
		b.AddRat(0, b.Stack(s.Frames[1:]...), &s.Hits.Rat)
	}
	b.SetDenominator(0, new(big.Rat).Set(&c.Total.Rat))
	tree, err := b.Tree()
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
