package hotspots

import (
	"math/big"
	"slices"
	"strings"

	"github.com/cpprof/cpprof/internal/exact"
	"github.com/cpprof/cpprof/internal/lists"
	"github.com/cpprof/cpprof/views/calltree"
)

// Trees is the profile of one call tree, or of the difference of
// two. It has summaries and their totals. Costs are exact hits,
// in Unit. In a comparison, they may be negative. A Trees is not
// safe for concurrent use.
type Trees struct {
	unit  string
	whole *big.Rat
	names calltree.Symbols // of functions and other frames, by the profile's numbers
	sides []*side
}

// NewSingle returns the profile of a call tree's first metric.
func NewSingle(t *calltree.Tree) *Trees {
	m := t.Main()
	p := &Trees{unit: m.Unit, whole: m.Denominator}
	p.add(t, nil)
	p.finish()
	return p
}

// NewComparison returns the profile of a minus b, in the first
// metric of each. It matches frames by name: the trees need not
// share a Symbols table.
//
// With perDenominator, costs are fractions of each tree's own
// denominator (Metric.Denominator), so that recordings of
// different length can be compared; otherwise they are hits, as
// in the paper.
func NewComparison(a, b *calltree.Tree, perDenominator bool) *Trees {
	p := &Trees{unit: b.Main().Unit, whole: b.Main().Denominator}
	fa, fb := big.NewRat(1, 1), big.NewRat(-1, 1)
	if perDenominator {
		p.unit, p.whole = "", big.NewRat(1, 1)
		fa = a.Main().Cost(fa)
		fb = b.Main().Cost(fb)
	}
	p.add(a, fa)
	p.add(b, fb)
	p.finish()
	return p
}

// add adds a tree as a side, and numbers its names.
func (p *Trees) add(t *calltree.Tree, factor *big.Rat) {
	syms := t.Symbols()
	number := slices.Repeat([]int32{-1}, syms.Len())
	name := make([]int32, t.Len())
	for n, f := range t.Funcs() {
		if number[f] < 0 {
			number[f] = int32(p.names.Intern(syms.Name(f)))
		}
		name[n] = number[f]
	}
	p.sides = append(p.sides, newSide(t, name, factor))
}

func (p *Trees) name(number int32) string { return p.names.Name(calltree.Func(number)) }

func (p *Trees) finish() {
	for _, s := range p.sides {
		s.index(p.names.Len())
	}
}

// Unit returns the unit of costs; it is empty for fractions.
func (p *Trees) Unit() string { return p.unit }

// Share returns a cost as a fraction of the whole; it is 0 if
// the whole is 0.
func (p *Trees) Share(cost *big.Rat) *big.Rat { return exact.Quo(cost, p.whole) }

// Initial returns the summaries of all names, sorted.
func (p *Trees) Initial() []*Summary {
	bases, cums := p.nameTotals()
	out := make([]*Summary, 0, p.names.Len())
	for name := range p.names.Len() {
		s := &Summary{of: p, length: 1, path: []int32{int32(name)}, plain: true, base: bases[name],
			cum: cums[name]}
		for _, side := range p.sides {
			s.places = append(s.places, side.all(int32(name)))
		}
		if !s.Empty() {
			out = append(out, s)
		}
	}
	slices.SortFunc(out,
		func(a, b *Summary) int { return strings.Compare(a.Path()[0], b.Path()[0]) })
	return out
}

// nameTotals returns the base and cum of all names, by one scan
// over each side.
func (p *Trees) nameTotals() (bases, cums []*big.Rat) {
	bases, cums = make([]*big.Rat, p.names.Len()), make([]*big.Rat, p.names.Len())
	for name := range p.names.Len() {
		bases[name], cums[name] = new(big.Rat), new(big.Rat)
	}
	for _, side := range p.sides {
		base, cum := side.nameSums(p.names.Len())
		for name := range p.names.Len() {
			bases[name].Add(bases[name], side.hits(base[name]))
			cums[name].Add(cums[name], side.hits(cum[name]))
		}
	}
	return bases, cums
}

// Summary returns the summary of a call sequence, which may be Empty.
func (p *Trees) Summary(path ...string) *Summary {
	numbers := make([]int32, len(path))
	for i, name := range path {
		n := p.names.Lookup(name)
		if n == calltree.None {
			return p.nowhere(path)
		}
		numbers[i] = int32(n)
	}
	if len(path) == 0 {
		return p.nowhere(path)
	}
	s := &Summary{of: p, length: len(numbers), path: numbers, plain: plain(numbers)}
	for _, side := range p.sides {
		s.places = append(s.places, side.find(numbers))
	}
	return s
}

func (p *Trees) nowhere(path []string) *Summary {
	return &Summary{of: p, text: slices.Clone(path), places: make([]places, len(p.sides)),
		plain: true}
}

// TotalBase returns the base of a list of summaries. Each node
// counts once.
func (p *Trees) TotalBase(list ...*Summary) *big.Rat {
	sum := new(big.Rat)
	for i, side := range p.sides {
		sum.Add(sum, side.base(p.items(i, list)))
	}
	return sum
}

// TotalCums returns the cum of list[:1], list[:2] and so on, in
// one pass. Each node counts once.
func (p *Trees) TotalCums(list ...*Summary) []*big.Rat {
	out := lists.Each(list, func(*Summary) *big.Rat { return new(big.Rat) })
	for i, side := range p.sides {
		for k, cum := range side.cums(p.items(i, list)) {
			out[k].Add(out[k], cum)
		}
	}
	return out
}

// Overlaps returns for each of several lists how much of the cum
// and of the base of s is already in it (section 2.1). For the
// cum, that is cum(s) + cum(list) - cum(s with list).
func (p *Trees) Overlaps(s *Summary, with ...[]*Summary) (cums, bases []*big.Rat) {
	for _, list := range with {
		cum, base := s.Cum(), s.Base()
		both := append(slices.Clone(list), s)
		totals := p.TotalCums(both...)
		if len(list) > 0 {
			cum.Add(cum, totals[len(list)-1])
		}
		base.Add(base, p.TotalBase(list...))
		cums = append(cums, cum.Sub(cum, totals[len(list)]))
		bases = append(bases, base.Sub(base, p.TotalBase(both...)))
	}
	return cums, bases
}

// items returns the summaries' places in one side. It panics if
// a summary is of another profile: that is a mistake in the
// calling code.
func (p *Trees) items(side int, list []*Summary) []item {
	out := make([]item, len(list))
	for i, s := range list {
		if s.of != p {
			panic("bottlenecks: summary of another profile")
		}
		out[i] = s.item(side)
	}
	return out
}
