package hotspots

import (
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/views/calltree"
)

// A Colour is what a search over call paths knows of one of them (JBolt, figure 2).
type Colour uint8

const (
	Untried  Colour = iota // nothing: its caller is no bottleneck
	Rejected               // it is no bottleneck
	Frontier               // it may be one: more evidence is needed
	Accepted               // it is one
)

// Coloured is a call tree with what the search over its call paths knows of each.
type Coloured struct {
	Tree      *calltree.Tree
	Threshold float64 // the share of the root above which a call path is a bottleneck
	Paths

	whole   *big.Rat
	hits    []float64 // by slice: of the root; nil if shares are exact
	colours []Colour
	deep    map[calltree.Func]bool
}

// ColourPaths searches the call paths of a tree. Shares are shares of the
// root. In the profile of another tool, nobody knows when a stack got its
// hits; its shares then count as exact.
func ColourPaths(t *calltree.Tree, threshold float64) *Coloured {
	m := t.Main()
	c := &Coloured{Tree: t, Threshold: threshold, whole: m.Cum(0), colours: make([]Colour, t.Len()), deep: make(map[calltree.Func]bool)}
	if c.whole.Sign() <= 0 {
		return c // nothing was seen
	}
	if slices := m.Slices(); slices != nil {
		c.hits = slices.Hits([2]int32{0, t.Ends()[0]})
	}
	c.Paths = FindPaths(t, func(_ *calltree.Metric, s Stacks) Verdict { return c.verdict(s) })
	// Typed time is no code: that all computing is :RUN says nothing.
	c.Deep = slices.DeleteFunc(c.Deep, func(s Starter) bool { return t.Symbols().Kind(s.Func) == calltree.Typed })
	for _, n := range c.TopDown {
		c.colours[n] = Accepted
	}
	for _, n := range c.Frontier {
		c.colours[n] = Frontier
	}
	for n := int32(1); int(n) < t.Len(); n++ {
		p := t.Parents()[n]
		tried := (p == 0 || c.colours[p] == Accepted) && (p == 0 || !t.BeginsPart(t.Funcs()[n]))
		if tried && c.colours[n] == Untried {
			c.colours[n] = Rejected
		}
	}
	for _, d := range c.Deep {
		c.deep[d.Func] = true
	}
	return c
}

func (c *Coloured) verdict(s Stacks) Verdict { return c.estimate(s).Against(c.Threshold) }

// estimate returns the share of some stacks in the root.
func (c *Coloured) estimate(s Stacks) Estimate {
	if c.whole.Sign() <= 0 {
		return Estimate{}
	}
	if c.hits != nil {
		return estimated(c.Tree.Main().Slices(), s.Ranges, c.hits)
	}
	p, _ := new(big.Rat).Quo(s.Weight, c.whole).Float64()
	p = min(max(p, 0), 1)
	return Estimate{Share: p, Low: p, High: p}
}

// Colour returns what is known of the call path of a node.
func (c *Coloured) Colour(n int32) Colour { return c.colours[n] }

// Cost returns the share of a call path in the root, without an interval: that takes longer.
func (c *Coloured) Cost(n int32) float64 {
	if c.whole.Sign() <= 0 {
		return 0
	}
	p, _ := new(big.Rat).Quo(c.Tree.Main().Cum(n), c.whole).Float64()
	return p
}

// Share returns the share of a call path in the root, with its interval.
func (c *Coloured) Share(n int32) Estimate {
	return c.estimate(Stacks{c.Tree.Main().Through(n), [][2]int32{{n, c.Tree.Ends()[n]}}})
}

// StarterShare returns the share of a deep starter in the root, wherever it is called.
func (c *Coloured) StarterShare(s *Starter) Estimate { return c.estimate(s.Stacks) }

// IsDeep reports whether the function of a node is a bottleneck wherever it is called, though no call path to it is one.
func (c *Coloured) IsDeep(n int32) bool { return c.deep[c.Tree.Funcs()[n]] }
