package hotspots

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views/calltree"
)

// brute computes the paper's definitions literally, with sets of nodes.
type brute struct{ t *calltree.Tree }

// paths returns all downward node paths that are labelled with
// the call sequence.
func (b brute) paths(calls []string) (all [][]int32) {
	for n := range int32(b.t.Len()) {
		path := []int32{}
		for m := n; m >= 0 && len(path) < len(calls); m = b.t.Parents()[m] {
			path = append(path, m)
		}
		slices.Reverse(path)
		if len(path) == len(calls) && slices.Equal(b.names(path), calls) {
			all = append(all, path)
		}
	}
	return all
}

func (b brute) names(path []int32) []string {
	out := make([]string, len(path))
	for i, n := range path {
		out[i] = b.t.Symbols().Name(b.t.Funcs()[n])
	}
	return out
}

// total sums the own cost of along(S), and if below is true also
// of descendants(S).
func (b brute) total(below bool, list ...[]string) *big.Rat {
	counted := make(map[int32]bool)
	for _, calls := range list {
		for _, path := range b.paths(calls) {
			for _, n := range path {
				counted[n] = true
			}
			if below {
				final := path[len(path)-1]
				for n := final; n < b.t.Ends()[final]; n++ {
					counted[n] = true
				}
			}
		}
	}
	sum := new(big.Rat)
	for n := range counted {
		sum.Add(sum, b.t.Main().Own(n))
	}
	return sum
}

// drawTree draws a tree with much recursion. With fractions and
// large hits it has several planes.
func drawTree(t *rapid.T, label string, lowest int64) *calltree.Tree {
	names := []string{"a", "b", "c", "d"}
	b := calltree.NewBuilder(new(calltree.Symbols), "root", "cost", "units")
	stacks := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom(names), 0, 8), 1, 25).Draw(t, label)
	large := rapid.Bool().Draw(t, label+" large")
	for i, stack := range stacks {
		n := b.Stack(stack...)
		b.Add(0, n, rapid.Int64Range(lowest, 20).Draw(t, "hits"), int64(1+i%3))
		if large {
			b.AddRat(0, n, new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(int64(i+1)), 90), big.NewInt(7)))
		}
	}
	return fixture.Must(b.Tree())(t)
}

func drawPath(t *rapid.T, label string) []string {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "a", "b", "c", "d", "root", "nowhere"}), 1, 4).Draw(t, label)
}

func TestTotalsAreThoseOfTheDefinitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, "tree", -5)
		p, b := NewSingle(tree), brute{tree}
		var list []*Summary
		var paths [][]string
		for range rapid.IntRange(1, 5).Draw(t, "summaries") {
			paths = append(paths, drawPath(t, "path"))
			list = append(list, p.Summary(paths[len(paths)-1]...))
		}
		if got, want := list[0].Base(), b.total(false, paths[0]); got.Cmp(want) != 0 {
			t.Fatalf("base %s, want %s", got, want)
		}
		if got, want := p.TotalBase(list...), b.total(false, paths...); got.Cmp(want) != 0 {
			t.Fatalf("total base %s, want %s", got, want)
		}
		for i, got := range p.TotalCums(list...) {
			if want := b.total(true, paths[:i+1]...); got.Cmp(want) != 0 {
				t.Fatalf("total cum of the first %d: %s, want %s", i+1, got, want)
			}
		}
	})
}

func TestExtensionsAreThoseThatOccur(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, "tree", 0)
		p, b := NewSingle(tree), brute{tree}
		path := drawPath(t, "path")
		s := p.Summary(path...)
		if got, want := s.Empty(), len(b.paths(path)) == 0; got != want {
			t.Fatalf("empty %v, want %v", got, want)
		}
		var tops, bottoms []string
		for _, i := range p.Initial() {
			name := i.Path()[0]
			if len(b.paths(append([]string{name}, path...))) > 0 {
				tops = append(tops, name)
			}
			if len(b.paths(append(slices.Clone(path), name))) > 0 {
				bottoms = append(bottoms, name)
			}
		}
		if got := firsts(s.Tops()); !slices.Equal(got, tops) {
			t.Fatalf("top extensions %q, want %q", got, tops)
		}
		if got := s.BottomExtensions(); !slices.Equal(got, bottoms) {
			t.Fatalf("bottom extensions %q, want %q", got, bottoms)
		}
		for _, e := range append(s.Tops(), s.Bottoms()...) {
			if got, want := e.Cum(), b.total(true, e.Path()); got.Cmp(want) != 0 {
				t.Fatalf("cum of %q: %s, want %s", e.Path(), got, want)
			}
			if got, want := e.Base(), b.total(false, e.Path()); got.Cmp(want) != 0 {
				t.Fatalf("base of %q: %s, want %s", e.Path(), got, want)
			}
			again := p.Summary(e.Path()...)
			if again.Cum().Cmp(e.Cum()) != 0 {
				t.Fatalf("cum of %q by extension and by path differ", e.Path())
			}
		}
	})
}

func TestExtendThenTrimIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := NewSingle(drawTree(t, "tree", 0))
		s := p.Summary(drawPath(t, "path")...)
		name := rapid.SampledFrom([]string{"a", "b", "nowhere"}).Draw(t, "name")
		up, _ := p.Summary(append([]string{name}, s.Path()...)...).TrimTop()
		down, _ := p.Summary(append(slices.Clone(s.Path()), name)...).TrimBottom()
		for _, again := range []*Summary{up, down} {
			if !slices.Equal(again.Path(), s.Path()) || again.Cum().Cmp(s.Cum()) != 0 {
				t.Fatalf("%q became %q", s.Path(), again.Path())
			}
		}
	})
}

// cumOverlap and baseOverlap return the overlaps with one list.
func cumOverlap(p *Trees, s *Summary, list ...*Summary) *big.Rat {
	cums, _ := p.Overlaps(s, list)
	return cums[0]
}

func baseOverlap(p *Trees, s *Summary, list ...*Summary) *big.Rat {
	_, bases := p.Overlaps(s, list)
	return bases[0]
}

func TestOverlapIsSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := NewComparison(drawTree(t, "a", 0), drawTree(t, "b", 0), rapid.Bool().Draw(t, "per denominator"))
		r, s := p.Summary(drawPath(t, "r")...), p.Summary(drawPath(t, "s")...)
		if cumOverlap(p, r, s).Cmp(cumOverlap(p, s, r)) != 0 || baseOverlap(p, r, s).Cmp(baseOverlap(p, s, r)) != 0 {
			t.Fatalf("overlap of %q and %q is not symmetric", r.Path(), s.Path())
		}
		if cumOverlap(p, r, r).Cmp(r.Cum()) != 0 {
			t.Fatalf("%q does not overlap itself wholly", r.Path())
		}
	})
}

func TestOverlapIsThatOfTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, "tree", -5)
		p, b := NewSingle(tree), brute{tree}
		path := drawPath(t, "path")
		var list []*Summary
		paths := [][]string{path}
		for range rapid.IntRange(0, 4).Draw(t, "summaries") {
			paths = append(paths, drawPath(t, "with"))
			list = append(list, p.Summary(paths[len(paths)-1]...))
		}
		for _, below := range []bool{false, true} {
			want := new(big.Rat).Add(b.total(below, path), b.total(below, paths[1:]...))
			want.Sub(want, b.total(below, paths...))
			got := baseOverlap(p, p.Summary(path...), list...)
			if below {
				got = cumOverlap(p, p.Summary(path...), list...)
			}
			if got.Cmp(want) != 0 {
				t.Fatalf("%q with %q: %s, want %s", path, paths[1:], got, want)
			}
		}
	})
}

func TestDifferenceIsOneMinusTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ta, tb := drawTree(t, "a", 0), drawTree(t, "b", 0)
		a, b, diff := NewSingle(ta), NewSingle(tb), NewComparison(ta, tb, false)
		path := drawPath(t, "path")
		want := new(big.Rat).Sub(a.Summary(path...).Cum(), b.Summary(path...).Cum())
		if got := diff.Summary(path...).Cum(); got.Cmp(want) != 0 {
			t.Fatalf("cum of %q: %s, want %s", path, got, want)
		}
		nothing := NewComparison(ta, ta, rapid.Bool().Draw(t, "per denominator"))
		for _, s := range nothing.Initial() {
			if s.Base().Sign() != 0 || s.Cum().Sign() != 0 {
				t.Fatalf("a minus a has %q", s.Path())
			}
		}
	})
}

func TestZoomTopIsThePseudocode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, "tree", 0)
		p, b := NewSingle(tree), brute{tree}
		path := drawPath(t, "path")
		cutoff := big.NewRat(rapid.Int64Range(1, 150).Draw(t, "cutoff"), 100)
		goal := new(big.Rat).Mul(cutoff, b.total(true, path))
		want := b.zoomTop(path, goal, false)
		got := Zoom(p.Summary(path...), cutoff, (*Summary).Tops)
		if len(got) != len(want) {
			t.Fatalf("%d summaries, want %q", len(got), want)
		}
		for i, s := range got {
			if !slices.Equal(s.Path(), want[i]) {
				t.Fatalf("%q, want %q", s.Path(), want[i])
			}
		}
	})
}

func (b brute) zoomTop(path []string, goal *big.Rat, stepped bool) [][]string {
	var tops [][]string
	for _, name := range []string{"a", "b", "c", "d", "root"} {
		if longer := append([]string{name}, path...); len(b.paths(longer)) > 0 {
			tops = append(tops, longer)
		}
	}
	slices.SortStableFunc(tops, func(x, y []string) int { return b.total(true, y).Cmp(b.total(true, x)) })
	for n := 1; n <= len(tops); n++ {
		if b.total(true, tops[:n]...).Cmp(goal) < 0 {
			continue
		}
		if n == 1 {
			return b.zoomTop(tops[0], goal, true)
		}
		return tops[:n]
	}
	if stepped {
		return [][]string{path}
	}
	return nil
}
