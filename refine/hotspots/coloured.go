package hotspots

import (
	"slices"

	"github.com/cpprof/cpprof/views/calltree"
)

// A Colour is what a search over call paths knows of one of them
// (JBolt, figure 2).
type Colour uint8

const (
	Untried  Colour = iota // nothing: its caller is no bottleneck
	Rejected               // it is no bottleneck
	Frontier               // it may be one: more evidence is needed
	Accepted               // it is one
)

// Coloured is a call tree with what the search over its call
// paths knows of each.
type Coloured struct {
	Tree      *calltree.Tree
	Threshold float64 // the cost above which a call path is a bottleneck
	Paths

	colours []Colour
	deep    map[calltree.Func]bool
}

// ColourPaths searches the call paths of a tree. Shares are
// costs, as in the view. In the profile of another tool, nobody
// knows when a stack got its hits; its shares then count as
// exact.
func ColourPaths(t *calltree.Tree, threshold float64) *Coloured {
	c := &Coloured{Tree: t, Threshold: threshold, colours: make([]Colour, t.Len()),
		deep: make(map[calltree.Func]bool)}
	if t.Main().Cum(0).Sign() <= 0 {
		return c // nothing was seen
	}
	c.Paths = FindPaths(t, func(_ *calltree.Metric, s Stacks) Verdict { return c.verdict(s) })
	// Typed time is no code: that all computing is :RUN says nothing.
	c.Deep = slices.DeleteFunc(c.Deep,
		func(s Starter) bool { return t.Symbols().Kind(s.Func) == calltree.Typed })
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

// estimate returns the cost of some stacks.
func (c *Coloured) estimate(s Stacks) Estimate {
	m := c.Tree.Main()
	if e := Sampled(m, s.Ranges...); e != nil {
		return *e
	}
	p, _ := m.Cost(s.Weight).Float64()
	return Estimate{Share: p, Low: p, High: p}
}

// Colour returns what is known of the call path of a node.
func (c *Coloured) Colour(n int32) Colour { return c.colours[n] }

// Cost returns the cost of a call path, without an interval:
// that takes longer.
func (c *Coloured) Cost(n int32) float64 {
	m := c.Tree.Main()
	p, _ := m.Cost(m.Cum(n)).Float64()
	return p
}

// Share returns the cost of a call path, with its interval.
func (c *Coloured) Share(n int32) Estimate {
	return c.estimate(Stacks{c.Tree.Main().Through(n), [][2]int32{{n, c.Tree.Ends()[n]}}})
}

// StarterShare returns the cost of a deep starter, wherever it is called.
func (c *Coloured) StarterShare(s *Starter) Estimate { return c.estimate(s.Stacks) }

// IsDeep reports whether the function of a node is a bottleneck
// wherever it is called, though no call path to it is one.
func (c *Coloured) IsDeep(n int32) bool { return c.deep[c.Tree.Funcs()[n]] }
