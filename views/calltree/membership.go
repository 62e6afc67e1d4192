package calltree

import "slices"

// A Membership records which true functions of one Symbols table
// are in which named sets. Aspects are such sets (package
// aspects makes them from patterns). Sets are numbered in the
// order of Names.
type Membership struct {
	names []string
	sets  [][]int32 // by Func: the sets that it is in, ascending
}

// NewMembership calls belongs for every set and every true
// function. Typed time, classes and the root are in no set.
func NewMembership(syms *Symbols, names []string,
	belongs func(set int, function string) bool) *Membership {
	m := &Membership{names: names, sets: make([][]int32, syms.Len())}
	for f := range m.sets {
		if syms.kinds[f] != Function {
			continue
		}
		for s := range names {
			if belongs(s, syms.names.All[f]) {
				m.sets[f] = append(m.sets[f], int32(s))
			}
		}
	}
	return m
}

// Names returns the names of the sets, with their "@". A nil
// Membership has none.
func (m *Membership) Names() []string {
	if m == nil {
		return nil
	}
	return m.names
}

// Set returns the number of the set with the given name, or -1.
func (m *Membership) Set(name string) int32 {
	return int32(slices.Index(m.Names(), name))
}

// Of returns the sets that contain f. A function interned after
// the membership was made is in no set.
func (m *Membership) Of(f Func) []int32 {
	if m == nil || int(f) >= len(m.sets) {
		return nil
	}
	return m.sets[f]
}
