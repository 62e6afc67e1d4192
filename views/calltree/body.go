package calltree

// Body adds to sums the digits of the hits of the stacks with
// node n as their innermost function. These are the stacks that
// end at n, and the stacks that go on with typed time. A node of
// typed time has none.
func (t *Tree) Body(n int32, sums []int64) {
	if t.syms.kinds[t.fn[n]] == Typed {
		return
	}
	for k, p := range t.Main().planes {
		sums[k] += p.Own[n]
		for c := n + 1; c < t.end[n]; c = t.end[c] {
			if t.syms.kinds[t.fn[c]] == Typed {
				sums[k] += p.Cum[c]
			}
		}
	}
}

// Owners returns, for each node, the node of the innermost
// function of its stack: the node above the first typed time, or
// the node itself if there is none. So the stack
// "f :MONITOR go:h g :RUN" is owned by f.
func (t *Tree) Owners() []int32 {
	owners := make([]int32, len(t.fn))
	for n := range owners {
		owners[n] = int32(n)
		if n == 0 {
			continue
		}
		p := t.parent[n]
		if owners[p] != p || t.syms.kinds[t.fn[n]] == Typed {
			owners[n] = owners[p]
		}
	}
	return owners
}

// Fold returns, for each node, the sum of a number over the
// nodes that it owns. With the own hits, a function has its
// typed time's hits.
func (t *Tree) Fold(numbers []int64) []int64 {
	sums := make([]int64, len(numbers))
	for n, owner := range t.Owners() {
		sums[owner] += numbers[n]
	}
	return sums
}
