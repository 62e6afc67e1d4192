package why

import (
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/views/calltree"
)

// A Colour is what a search over call paths knows of one of them (JBolt, figure 2).
type Colour uint8

const (
	Untried    Colour = iota // nothing: its caller is no bottleneck
	Rejected                 // it is no bottleneck
	Frontier                 // it may be one: more evidence is needed
	Bottleneck               // it is one
)

// Coloured is a call tree with what the search over its call paths knows of each.
type Coloured struct {
	Tree      *calltree.Tree
	Threshold float64 // the share of the root above which a call path is a bottleneck
	Paths

	whole   *big.Rat
	samples float64 // that shares are based on; 0 if they are exact
	colours []Colour
	deep    map[calltree.Func]bool
}

// ColourPaths searches the call paths of a tree that was made of a number of samples. Samples are the unit of the intervals, since the
// goroutines in one of them are not independent. A tree that was not sampled, such as one of allocated bytes, has exact shares.
func ColourPaths(t *calltree.Tree, threshold float64, samples int) *Coloured {
	m := t.Main()
	c := &Coloured{Tree: t, Threshold: threshold, whole: m.Cum(0), colours: make([]Colour, t.Len()), deep: make(map[calltree.Func]bool)}
	if c.whole.Sign() <= 0 {
		return c // nothing was seen
	}
	if hits := m.Hits(); hits.Unit == "samples" {
		c.samples, _ = hits.Cum(0).Float64()
		if samples > 0 {
			c.samples = min(c.samples, float64(samples))
		}
	}
	c.Paths = FindPaths(t, func(_ *calltree.Metric, total calltree.Total) Verdict { return c.verdict(total) })
	// Typed time is no code: that all computing is :RUN says nothing.
	c.Deep = slices.DeleteFunc(c.Deep, func(s Starter) bool { return t.Symbols().Kind(s.Func) == calltree.Typed })
	for _, n := range c.TopDown {
		c.colours[n] = Bottleneck
	}
	for _, n := range c.Frontier {
		c.colours[n] = Frontier
	}
	for n := int32(1); int(n) < t.Len(); n++ {
		p := t.Parents()[n]
		tried := (p == 0 || c.colours[p] == Bottleneck) && (p == 0 || !t.BeginsPart(t.Funcs()[n]))
		if tried && c.colours[n] == Untried {
			c.colours[n] = Rejected
		}
	}
	for _, d := range c.Deep {
		c.deep[d.Func] = true
	}
	return c
}

func (c *Coloured) verdict(t calltree.Total) Verdict { return c.estimate(t).Against(c.Threshold) }

// estimate returns the share of some stacks in the root.
func (c *Coloured) estimate(t calltree.Total) Estimate {
	if c.whole.Sign() <= 0 {
		return Estimate{}
	}
	p, _ := new(big.Rat).Quo(t.Weight, c.whole).Float64()
	p = min(max(p, 0), 1)
	e := Estimate{Share: p, Low: p, High: p, Samples: int(c.samples)}
	if c.samples > 0 {
		e.Low, e.High = wilson(p, c.samples)
	}
	return e
}

// Colour returns what is known of the call path of a node.
func (c *Coloured) Colour(n int32) Colour { return c.colours[n] }

// Share returns the share of a call path in the root.
func (c *Coloured) Share(n int32) Estimate { return c.estimate(c.Tree.Main().Through(n)) }

// StarterShare returns the share of a deep starter in the root, wherever it is called.
func (c *Coloured) StarterShare(s *Starter) Estimate { return c.estimate(s.Total) }

// IsDeep reports whether the function of a node is a bottleneck wherever it is called, though no call path to it is one.
func (c *Coloured) IsDeep(n int32) bool { return c.deep[c.Tree.Funcs()[n]] }
