package lists

import "slices"

// Groups are the indexes of a list of keys, grouped by key.
type Groups[K ~int32] struct{ first, indexes []int32 }

// GroupBy groups the indexes of keys below n.
func GroupBy[K ~int32](keys []K, n int) Groups[K] {
	g := Groups[K]{make([]int32, n+1), make([]int32, len(keys))}
	for _, k := range keys {
		g.first[k+1]++
	}
	for k := range n {
		g.first[k+1] += g.first[k]
	}
	next := slices.Clone(g.first)
	for i, k := range keys {
		g.indexes[next[k]] = int32(i)
		next[k]++
	}
	return g
}

// Of returns the indexes of a key, in order.
func (g Groups[K]) Of(k K) []int32 { return g.Between(k, k+1) }

// Between returns the indexes of the keys from one up to another,
// key by key.
func (g Groups[K]) Between(from, end K) []int32 { return g.indexes[g.first[from]:g.first[end]] }
