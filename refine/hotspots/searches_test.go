package hotspots

import (
	"math/big"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/vectors"
	"github.com/cpprof/cpprof/views/calltree"
)

// searches is a file search*.json: call trees, and what a search
// over their call paths finds.
type searches struct {
	Format string
	Cases  []searchCase
}

// A searchCase is one call tree.
type searchCase struct {
	Name             string
	Stacks           []vectors.WeightedStack
	Total, Threshold vectors.Rat
	TopDown          []costedPath `json:"top_down"`
	Deep             []costedPath
	// The vectors have it, but FindPaths does not find it.
	Shown []string
}

// A costedPath is a call path and its cost.
type costedPath struct {
	Path string
	Cost vectors.Rat
}

// Tree returns the call tree of a case.
func (c *searchCase) Tree(t testing.TB) *calltree.Tree {
	t.Helper()
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "hits", "samples")
	for _, s := range c.Stacks {
		b.AddRat(0, b.Stack(s.Frames[1:]...), &s.Hits.Rat)
	}
	b.SetDenominator(0, new(big.Rat).Set(&c.Total.Rat))
	return fixture.Must(b.Tree())(t)
}
