package calltree

import (
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
)

// Filter returns the tree of the stacks whose nodes are marked
// in kept. It removes the weights of all other stacks. It
// removes nodes that no stack with a weight needs. The root and
// the denominators stay: costs remain fractions of the whole.
func (t *Tree) Filter(kept []bool) *Tree {
	needed := make([]bool, t.Len())
	for _, m := range t.metrics {
		for _, p := range m.Digits() {
			for i, own := range p.Own {
				if own != 0 && kept[i] {
					needed[i] = true
				}
			}
		}
	}
	for i := t.Len() - 1; i > 0; i-- {
		if needed[i] {
			needed[t.parent[i]] = true
		}
	}
	needed[0] = true
	return t.take(kept, needed)
}

// take copies the needed nodes, with the weights of the kept ones.
func (t *Tree) take(kept, needed []bool) *Tree {
	size := lists.Count(needed, func(need bool) bool { return need })
	f := &Tree{syms: t.syms, parent: make([]int32, 0, size), fn: make([]Func, 0, size)}
	at := make([]int32, t.Len())
	old := make([]int32, 0, size)
	for i, need := range needed {
		if !need {
			continue
		}
		at[i] = int32(len(old))
		p := int32(-1)
		if i > 0 {
			p = at[t.parent[i]]
		}
		f.parent = append(f.parent, p)
		f.fn = append(f.fn, t.fn[i])
		old = append(old, int32(i))
	}
	f.end = subtreeEnds(f.parent)
	sliced := slices.Clone(old)
	for i, o := range old {
		if !kept[o] {
			sliced[i] = -1
		}
	}
	for _, m := range t.metrics {
		f.metrics = append(f.metrics,
			m.withPlanes(m.slices.renumbered(sliced), func(p Plane) Plane {
				own := make([]int64, len(old))
				for i, o := range old {
					if kept[o] {
						own[i] = p.Own[o]
					}
				}
				return Plane{Own: own, Cum: cumulate(f.parent, own)}
			}))
	}
	return f
}

// withPlanes returns the metric, and its hits, with other planes and slices.
func (m *Metric) withPlanes(s *Slices, change func(Plane) Plane) *Metric {
	changed := *m
	changed.slices = s
	changed.planes = lists.Each(m.planes, change)
	if m.hits != nil {
		changed.hits = m.hits.withPlanes(nil, change)
	}
	return &changed
}

// BelowRoot returns the tree of the root's only child. It
// returns false if the root has no child, several children, or a
// weight of its own. When its stacks got their hits is lost.
func (t *Tree) BelowRoot() (*Tree, bool) {
	if t.Len() < 2 || int(t.end[1]) != t.Len() {
		return nil, false
	}
	below := &Tree{syms: t.syms, fn: t.fn[1:], parent: make([]int32, t.Len()-1),
		end: make([]int32, t.Len()-1)}
	for i := range below.parent {
		below.parent[i], below.end[i] = t.parent[i+1]-1, t.end[i+1]-1
	}
	for _, m := range t.metrics {
		for _, p := range m.Digits() {
			if p.Own[0] != 0 {
				return nil, false
			}
		}
		below.metrics = append(below.metrics,
			m.withPlanes(nil, func(p Plane) Plane { return Plane{Own: p.Own[1:], Cum: p.Cum[1:]} }))
	}
	return below, true
}
