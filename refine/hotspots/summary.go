package hotspots

import (
	"cmp"
	"maps"
	"math/big"
	"slices"

	"github.com/cpprof/cpprof/internal/lists"
)

// A Summary is a call sequence, of immediate calls only, with
// its cost wherever it occurs, and its places in each side of
// its profile.
type Summary struct {
	of        *Trees
	length    int      // of the path
	path      []int32  // made by names on first use, if the summary extends another one
	text      []string // of path, made on first use
	places    []places // by side
	plain     bool
	base, cum *big.Rat    // computed on first use
	known     *knownNames // of path, on first use
	// by side, plane and place, on first use: the own cost of
	// the path's nodes above the final
	above [][][]int64

	extension // of another summary, if any
}

// An extension is how a summary extends another one. A search
// goes up thousands of calls, so that an extension has only what
// differs.
type extension struct {
	from *Summary // nil: it extends none
	name int32
	top  bool
}

// knownNames are the names that occur in the path of one
// summary. When the search goes on, it lends them to its
// extension.
type knownNames struct {
	of    *Summary
	names map[int32]bool
}

// names returns the path.
func (s *Summary) names() []int32 {
	if s.path != nil || s.from == nil {
		return s.path
	}
	path := make([]int32, s.length)
	from, to := 0, s.length
	at := s
	for ; at.path == nil; at = at.from {
		if at.top {
			path[from] = at.name
			from++
		} else {
			to--
			path[to] = at.name
		}
	}
	copy(path[from:to], at.path)
	s.path = path
	return path
}

// has reports whether a name occurs in the path.
func (s *Summary) has(name int32) bool {
	if s.known == nil || s.known.of != s {
		if from := s.from; from != nil && from.known != nil && from.known.of == from {
			s.known = from.known
			s.known.names[s.name] = true
		} else {
			s.known = &knownNames{names: make(map[int32]bool)}
			for _, n := range s.names() {
				s.known.names[n] = true
			}
		}
		s.known.of = s
	}
	return s.known.names[name]
}

// Path returns the call sequence, caller first. It must not be changed.
func (s *Summary) Path() []string {
	if s.text == nil {
		s.text = lists.Each(s.names(), s.of.name)
	}
	return s.text
}

// Empty reports whether the profile does not have the call sequence.
func (s *Summary) Empty() bool {
	return !slices.ContainsFunc(s.places, func(p places) bool { return len(p.finals) > 0 })
}

// Base is the own cost of all nodes along the paths labelled
// with the call sequence (section 2.2).
func (s *Summary) Base() *big.Rat {
	if s.base == nil {
		s.base = s.of.TotalBase(s)
	}
	return new(big.Rat).Set(s.base)
}

// Own is the own cost of the paths' ends alone. A function owns
// its typed time, which is below it, so that ":RUN" takes
// nothing from it.
func (s *Summary) Own() *big.Rat {
	own := new(big.Rat)
	for i, side := range s.of.sides {
		sums := make([]int64, len(side.bodies))
		for k, bodies := range side.bodies {
			for _, n := range s.places[i].finals {
				sums[k] += bodies[n]
			}
		}
		own.Add(own, side.hits(sums))
	}
	return own
}

// Cum is the cost of the nodes of Base, and of all nodes below
// the paths' ends.
func (s *Summary) Cum() *big.Rat {
	if s.cum == nil {
		s.cum = new(big.Rat)
		for i, side := range s.of.sides {
			if s.plain {
				s.cum.Add(s.cum, s.plainCum(i))
			} else {
				s.cum.Add(s.cum, side.cums([]item{s.item(i)})[0])
			}
		}
	}
	return new(big.Rat).Set(s.cum)
}

// plainCum sums the cum of the finals that are not below another
// final, and the own cost of the path nodes above these. No name
// occurs twice in the path, so that the path of a final below
// another final is there as a whole.
func (s *Summary) plainCum(side int) *big.Rat {
	of, finals := s.of.sides[side], s.places[side].finals
	sums := make([]int64, len(of.planes))
	for k, above := range s.aboveFinals()[side] {
		cum := of.planes[k].Cum
		until := int32(0)
		for i, f := range finals {
			if f >= until {
				sums[k] += cum[f] + above[i]
				until = of.end[f]
			}
		}
	}
	return of.hits(sums)
}

// aboveFinals returns the own cost of the path's nodes above
// each final. If the path is another plain summary with one more
// caller, only the caller's cost is added.
func (s *Summary) aboveFinals() [][][]int64 {
	if s.above != nil {
		return s.above
	}
	var before [][][]int64
	if s.from != nil && s.top {
		before = s.from.aboveFinals()
	}
	for i, side := range s.of.sides {
		p := s.places[i]
		above := digitsOf(len(side.planes), len(p.finals))
		for k, plane := range side.planes {
			for j, f := range p.finals {
				if before != nil {
					was, _ := slices.BinarySearch(s.from.places[i].finals, f)
					above[k][j] = before[i][k][was] + plane.Own[p.roots[j]]
					continue
				}
				for n := f; n != p.roots[j]; {
					n = side.parent[n]
					above[k][j] += plane.Own[n]
				}
			}
		}
		s.above = append(s.above, above)
	}
	return s.above
}

// item returns the summary's places in one side.
func (s *Summary) item(side int) item { return item{s.places[side], int32(s.length), s.plain} }

// Tops returns the summaries with one more caller, sorted by its
// name, in the time of one.
func (s *Summary) Tops() []*Summary {
	return s.extensions((*side).tops, true)
}

// Bottoms returns the summaries with one more callee, likewise.
func (s *Summary) Bottoms() []*Summary {
	return s.extensions((*side).bottoms, false)
}

// extensions merges the groups of all sides by name.
func (s *Summary) extensions(grouped func(*side, places) map[int32]places, top bool) []*Summary {
	byName := make(map[int32]*Summary)
	for i, side := range s.of.sides {
		for name, where := range grouped(side, s.places[i]) {
			e := lists.Made(byName, name, func() *Summary {
				return &Summary{of: s.of, length: s.length + 1, plain: s.plain && !s.has(name),
					extension: extension{s, name, top}, places: make([]places, len(s.places))}
			})
			e.places[i] = where
		}
	}
	names := slices.SortedFunc(maps.Keys(byName),
		func(a, b int32) int { return cmp.Compare(s.of.name(a), s.of.name(b)) })
	return lists.Each(names, func(name int32) *Summary { return byName[name] })
}

// BottomExtensions returns the names that can come after the call sequence,
// sorted.
func (s *Summary) BottomExtensions() []string {
	return lists.Each(s.Bottoms(), func(b *Summary) string { return s.of.name(b.name) })
}

// TrimTop returns the summary without the first name; false for
// a sequence of one.
func (s *Summary) TrimTop() (*Summary, bool) {
	if len(s.Path()) < 2 {
		return nil, false
	}
	return s.of.Summary(s.Path()[1:]...), true
}

// TrimBottom returns the summary without the last name, likewise.
func (s *Summary) TrimBottom() (*Summary, bool) {
	if len(s.Path()) < 2 {
		return nil, false
	}
	return s.of.Summary(s.Path()[:len(s.Path())-1]...), true
}
