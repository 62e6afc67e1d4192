package hotspots

import (
	"cmp"
	"fmt"
	"math/big"
	"strings"

	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// A Suggester lists summaries at which a search can start, best
// first (section 2.3).
type Suggester struct {
	Name    string // as on the command line
	Help    string // describes the suggestions in one line
	Suggest func(*Trees) []*Summary
}

// singles suggests single names by a falling number.
func singles(name, help string, by func(*Summary) *big.Rat) Suggester {
	return Suggester{name, "single names by " + help, func(p *Trees) []*Summary {
		list := p.Initial()
		sortBy(list, by)
		return list
	}}
}

// Typed suggests call sequences for one time type: it zooms up
// from the time type, and suggests the callers of the result by
// falling cum.
func Typed(timeType string) Suggester {
	return Suggester{"Typed " + timeType,
		"where " + timeType + " concentrates", func(p *Trees) []*Summary {
			s := p.Summary(timeType)
			if s.Empty() {
				return nil
			}
			reached, _ := zoomTo(s, DefaultCutoff(), (*Summary).Tops)
			list := reached.Tops()
			if len(list) == 0 {
				return []*Summary{reached}
			}
			SortByCum(list)
			return list
		}}
}

// Suggesters returns all suggesters, with Typed for :MONITOR. A
// search begins with the first one.
//
// HighBase and Change take the own cost of a name, so that
// functions and not typed times come first. Change takes its
// absolute value: in a comparison, the names that changed most.
func Suggesters() []Suggester {
	change := func(s *Summary) *big.Rat { own := s.Own(); return own.Abs(own) }
	return []Suggester{
		singles("HighBase", "falling own cost; for a bottom-up search", (*Summary).Own),
		singles("HighCum", "falling cum; for a top-down search", (*Summary).Cum),
		Typed(":MONITOR"),
		{"Recursive", "cycles of calls, from a function to itself, by cost", (*Trees).Cycles},
		singles("Change", "the largest difference of own cost, up or down; for a comparison",
			change),
	}
}

// ParseSuggester returns a suggester by its name; "Typed" is
// followed by a time type or wait reason.
func ParseSuggester(name string) (Suggester, error) {
	kind, rest, _ := strings.Cut(strings.TrimSpace(name), " ")
	rest = strings.TrimSpace(rest)
	if kind == "Typed" && calltree.KindOf(rest) == calltree.Typed {
		return Typed(rest), nil
	}
	var names []string
	for _, s := range Suggesters() {
		if s.Name == kind && rest == "" {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Suggester{}, fmt.Errorf("no suggester %q: choose one of %s", name,
		strings.Join(names, ", "))
}

// longestCycle is the greatest number of calls within which Cycles searches
// for a function's last occurrence.
const longestCycle = 64

// maxCycles is the number of functions for which Cycles finds
// the costliest cycle.
const maxCycles = 200

// Cycles returns the costliest cycle of each function that
// recurs within one goroutine's part of a stack, by falling cum.
// It does not find cycles of more than 64 calls.
func (p *Trees) Cycles() []*Summary {
	costs := make(map[string]*cycle)
	for _, s := range p.sides {
		p.addCycles(costs, s)
	}
	best := make(map[int32]*cycle)
	for _, c := range costs {
		c.cost.Abs(c.cost)
		if b := best[c.path[0]]; b == nil || c.before(b) {
			best[c.path[0]] = c
		}
	}
	var list []*Summary
	for _, c := range best {
		if s := p.Summary(lists.Each(c.path, p.name)...); s.Cum().Sign() != 0 {
			list = append(list, s)
		}
	}
	SortByCum(list)
	return list[:min(len(list), maxCycles)]
}

// A cycle is a call sequence that begins and ends with one
// function, and the cost below its ends.
type cycle struct {
	path []int32
	key  string
	cost *big.Rat
}

func (c *cycle) before(o *cycle) bool {
	return cmp.Or(o.cost.Cmp(c.cost), cmp.Compare(c.key, o.key)) < 0
}

// addCycles adds the cost of each cycle in one side. On each
// stack, it counts the first end of the cycle.
func (p *Trees) addCycles(to map[string]*cycle, s *side) {
	type found struct {
		path  []int32
		sums  []int64
		until int32
	}
	cycles := make(map[string]*found)
	var key []byte
	for n, name := range s.name {
		if p.names.Kind(calltree.Func(name)) != calltree.Function {
			continue
		}
		length := p.cycleLength(s, int32(n))
		if length == 0 {
			continue
		}
		key = key[:0]
		for m := int32(n); length >= 0; length-- {
			key = append(key, byte(s.name[m]), byte(s.name[m]>>8), byte(s.name[m]>>16),
				byte(s.name[m]>>24))
			m = s.parent[m]
		}
		c := cycles[string(key)]
		if c == nil {
			c = &found{path: s.namesAbove(int32(n), len(key)/4), sums: make([]int64, len(s.planes))}
			cycles[string(key)] = c
		}
		if int32(n) < c.until {
			continue
		}
		c.until = s.end[n]
		for k, plane := range s.planes {
			c.sums[k] += plane.Cum[n]
		}
	}
	for key, f := range cycles {
		c := lists.Made(to, key, func() *cycle { return &cycle{f.path, key, new(big.Rat)} })
		c.cost.Add(c.cost, s.hits(f.sums))
	}
}

// cycleLength returns the number of calls from a node's function
// to itself above, in its goroutine's part, or 0.
func (p *Trees) cycleLength(s *side, n int32) int {
	m := n
	for length := 1; length <= longestCycle; length++ {
		m = s.parent[m]
		if m < 0 || p.names.Kind(calltree.Func(s.name[m])) == calltree.Class {
			return 0
		}
		if s.name[m] == s.name[n] {
			return length
		}
	}
	return 0
}

// namesAbove returns the names from the node length-1 above n down to n.
func (s *side) namesAbove(n int32, length int) []int32 {
	path := make([]int32, length)
	for i := length - 1; i >= 0; i-- {
		path[i] = s.name[n]
		n = s.parent[n]
	}
	return path
}
