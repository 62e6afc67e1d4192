package bottlenecks

import (
	"cmp"
	"math/big"
	"slices"
)

// A summary is a call sequence with its places in each side of its profile.
type summary struct {
	of        *Trees
	path      []int32
	text      []string // of path, made on first use
	places    []places // by side
	plain     bool
	base, cum *big.Rat // computed on first use
}

func (s *summary) Path() []string {
	if s.text == nil {
		s.text = make([]string, len(s.path))
		for i, name := range s.path {
			s.text[i] = s.of.names[name]
		}
	}
	return s.text
}

func (s *summary) Empty() bool {
	for _, p := range s.places {
		if len(p.finals) > 0 {
			return false
		}
	}
	return true
}

func (s *summary) Base() *big.Rat {
	if s.base == nil {
		s.base = s.of.TotalBase(s)
	}
	return new(big.Rat).Set(s.base)
}

func (s *summary) Own() *big.Rat {
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

func (s *summary) Cum() *big.Rat {
	if s.cum == nil {
		s.cum = s.of.TotalCum(s)
	}
	return new(big.Rat).Set(s.cum)
}

func (s *summary) Tops() []Summary {
	return s.extensions((*side).tops, func(name int32) []int32 {
		return append([]int32{name}, s.path...)
	})
}

func (s *summary) Bottoms() []Summary {
	return s.extensions((*side).bottoms, func(name int32) []int32 {
		return append(slices.Clone(s.path), name)
	})
}

// extensions merges the groups of all sides by name.
func (s *summary) extensions(grouped func(*side, places) map[int32]places, path func(int32) []int32) []Summary {
	byName := make(map[int32]*summary)
	for i, side := range s.of.sides {
		for name, where := range grouped(side, s.places[i]) {
			e := byName[name]
			if e == nil {
				e = &summary{of: s.of, path: path(name), places: make([]places, len(s.places))}
				e.plain = s.plain && !slices.Contains(s.path, name)
				byName[name] = e
			}
			e.places[i] = where
		}
	}
	names := make([]int32, 0, len(byName))
	for name := range byName {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b int32) int { return cmp.Compare(s.of.names[a], s.of.names[b]) })
	out := make([]Summary, len(names))
	for i, name := range names {
		out[i] = byName[name]
	}
	return out
}

func (s *summary) TopExtensions() []string {
	return namesOf(s.Tops(), func(path []string) string { return path[0] })
}

func (s *summary) BottomExtensions() []string {
	return namesOf(s.Bottoms(), func(path []string) string { return path[len(path)-1] })
}

func namesOf(list []Summary, name func([]string) string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = name(s.Path())
	}
	return out
}

func (s *summary) ExtendTop(name string) Summary {
	return s.of.Summary(append([]string{name}, s.Path()...)...)
}

func (s *summary) ExtendBottom(name string) Summary {
	return s.of.Summary(append(slices.Clone(s.Path()), name)...)
}

func (s *summary) TrimTop() (Summary, bool) {
	if len(s.Path()) < 2 {
		return nil, false
	}
	return s.of.Summary(s.Path()[1:]...), true
}

func (s *summary) TrimBottom() (Summary, bool) {
	if len(s.Path()) < 2 {
		return nil, false
	}
	return s.of.Summary(s.Path()[:len(s.Path())-1]...), true
}
