package calltree

import "math"

// Slices say when the stacks of a tree got their hits. A slice
// is a number of samples that follow one another.
type Slices struct {
	Each    int       // samples of a slice
	Lengths []float64 // by slice: the time that its samples stand for
	Whole   []float64 // by slice: the mean number of hits of a sample in the denominator

	starts []int32 // by node: its first spell; one more than there are nodes
	spells []Spell
}

// A Spell is a mean number of hits of a sample, the same in each
// of the slices First to Last.
type Spell struct {
	First, Last int32
	Hits        float64
}

// NewSlices returns the slices of a tree of some nodes. The
// function all adds the spells of all nodes whenever it is
// called. Whole is first the sum of all stacks.
func NewSlices(each int, lengths []float64, nodes int,
	all func(add func(node int32, s Spell))) *Slices {
	s := &Slices{Each: each, Lengths: lengths, starts: make([]int32, nodes+1)}
	all(func(node int32, _ Spell) { s.starts[node+1]++ })
	for n := range nodes {
		s.starts[n+1] += s.starts[n]
	}
	s.spells = make([]Spell, s.starts[nodes])
	next := append([]int32(nil), s.starts...)
	all(func(node int32, spell Spell) {
		s.spells[next[node]] = spell
		next[node]++
	})
	s.Whole = s.Hits([2]int32{0, int32(nodes)})
	return s
}

// noHits is above the errors of rounding, and below every hit.
const noHits = 1e-9

// Hits returns by slice the mean number of hits of the stacks
// that end at nodes of some ranges [from, to).
func (s *Slices) Hits(ranges ...[2]int32) []float64 {
	hits := make([]float64, len(s.Lengths)+1) // first the steps from slice to slice
	for _, r := range ranges {
		for _, spell := range s.spells[s.starts[r[0]]:s.starts[r[1]]] {
			hits[spell.First] += spell.Hits
			hits[spell.Last+1] -= spell.Hits
		}
	}
	now := 0.0
	for i, step := range hits {
		now += step
		if hits[i] = now; math.Abs(now) < noHits {
			hits[i] = 0
		}
	}
	return hits[:len(s.Lengths)]
}

// renumbered returns the slices of a tree of other nodes: old
// has the number that each had, or -1.
func (s *Slices) renumbered(old []int32) *Slices {
	if s == nil {
		return nil
	}
	of := &Slices{Each: s.Each, Lengths: s.Lengths, Whole: s.Whole,
		starts: make([]int32, len(old)+1)}
	for n, o := range old {
		if o >= 0 {
			of.spells = append(of.spells, s.spells[s.starts[o]:s.starts[o+1]]...)
		}
		of.starts[n+1] = int32(len(of.spells))
	}
	return of
}
