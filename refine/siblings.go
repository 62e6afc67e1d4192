package refine

// siblings finds the frames x of an immediate refinement P x
// that share stacks with others. A path counts a stack wherever
// the path is satisfied: the stack "f g f h" counts for "f g"
// and for "f h". Nodes are counted in preorder. Two frames share
// a stack if a node counted for one is inside the subtree of a
// node counted for the other.
type siblings struct {
	shared  []bool // by x
	outside []counted
}

// A counted is the subtree that was counted for x.
type counted struct{ x, end int32 }

// add records that the subtree of a node is counted for x.
func (s *siblings) add(x, node, end int32) {
	n := len(s.outside)
	for n > 0 && s.outside[n-1].end <= node {
		n--
	}
	s.outside = s.outside[:n]
	for _, o := range s.outside {
		if o.x != x {
			s.shared[o.x], s.shared[x] = true, true
		}
	}
	s.outside = append(s.outside, counted{x, end})
}
