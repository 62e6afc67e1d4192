package sampledata

import (
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
)

// A recoder passes states to a sink that has codes of its own.
type recoder struct {
	to         Sink
	functions  []Function
	nodes      []Node
	labelSet   func(LabelSetID) []Label
	holderSet  func(HolderSetID) []GoroutineID
	goroutine  func(GoroutineID) GoroutineID // the sink's code
	newNodes   []NodeID                      // the sink's codes, plus 1; 0 for none
	labelSets  map[LabelSetID]LabelSetID     // the sink's codes, of sets that are not empty
	holderSets map[HolderSetID]HolderSetID   // likewise
}

// state returns a state in the sink's codes.
func (c *recoder) state(s State) State {
	s.Stack = c.node(s.Stack)
	if s.Release != 0 {
		s.Release = ReleaseAt(c.node(s.Release.Stack()))
	}
	if s.Labels != 0 {
		s.Labels = lists.Made(c.labelSets, s.Labels, func() LabelSetID {
			return c.to.LabelSet(c.labelSet(s.Labels))
		})
	}
	if s.Holders != 0 {
		s.Holders = lists.Made(c.holderSets, s.Holders, func() HolderSetID {
			return c.to.HolderSet(lists.Each(c.holderSet(s.Holders), c.goroutine))
		})
	}
	return s
}

func (c *recoder) node(n NodeID) NodeID {
	if n == NoStack {
		return n
	}
	if short := int(n) + 1 - len(c.newNodes); short > 0 {
		c.newNodes = append(c.newNodes, make([]NodeID, short)...)
	}
	if c.newNodes[n] == 0 {
		node := c.nodes[n]
		node.Parent, node.Function = c.node(node.Parent), c.function(node.Function)
		c.newNodes[n] = c.to.Node(node) + 1
	}
	return c.newNodes[n] - 1
}

func (c *recoder) function(f FunctionID) FunctionID {
	if f < 0 {
		return f
	}
	return c.to.Function(c.functions[f])
}

// processors returns what processors run, in the sink's codes.
func (c *recoder) processors(list []GoroutineID) []GoroutineID {
	list = slices.Clone(list)
	for i, g := range list {
		if g >= 0 {
			list[i] = c.goroutine(g)
		}
	}
	return list
}
