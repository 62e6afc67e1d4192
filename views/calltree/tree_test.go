package calltree

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A weighed stack is a stack with its hits.
type weighed struct {
	frames []string
	hits   *big.Rat
}

// drawRat draws hits of all sizes: whole ones, fractions with a
// few denominators, and some that need several planes.
func drawRat(t *rapid.T) *big.Rat {
	switch rapid.IntRange(0, 9).Draw(t, "size") {
	case 0:
		return new(big.Rat).SetFrac(
			new(big.Int).Lsh(big.NewInt(rapid.Int64Range(-5, 5).Draw(t, "num")), 90),
			new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 70), big.NewInt(rapid.Int64Range(0, 3).Draw(t, "den"))))
	case 1:
		return big.NewRat(rapid.Int64Range(math.MinInt64+1, math.MaxInt64).Draw(t, "num"), rapid.Int64Range(1, 3).Draw(t, "den"))
	}
	return big.NewRat(rapid.Int64Range(0, 20).Draw(t, "num"), rapid.SampledFrom([]int64{1, 1, 1, 2, 3, 7, 12}).Draw(t, "den"))
}

func drawStacks(t *rapid.T) []weighed {
	frame := rapid.SampledFrom([]string{"a", "b", "c.d", ":RUN", "go:a"})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) weighed {
		return weighed{rapid.SliceOfN(frame, 0, 6).Draw(t, "frames"), drawRat(t)}
	}), 0, 20).Draw(t, "stacks")
}

func build(t fixture.Test, stacks []weighed) *Tree {
	b := NewBuilder(new(Symbols), RootName, "time", "samples")
	for _, s := range stacks {
		b.AddRat(0, b.Stack(s.frames...), s.hits)
	}
	tree := fixture.Must(b.Tree())(t)
	fixture.Check(t, tree.Check())
	return tree
}

func hasPrefix(stack, prefix []string) bool {
	if len(prefix) > len(stack) {
		return false
	}
	for i := range prefix {
		if stack[i] != prefix[i] {
			return false
		}
	}
	return true
}

// Every node's hits are the exact sum over the stacks that were
// added, whatever their size.
func TestHitsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stacks := drawStacks(t)
		tree := build(t, stacks)
		for n := range int32(tree.Len()) {
			frames := tree.Frames(n)[1:]
			own, cum := new(big.Rat), new(big.Rat)
			for _, s := range stacks {
				if hasPrefix(s.frames, frames) {
					cum.Add(cum, s.hits)
					if len(s.frames) == len(frames) {
						own.Add(own, s.hits)
					}
				}
			}
			if got := tree.Main().Own(n); got.Cmp(own) != 0 {
				t.Fatalf("%v: own %v, want %v", frames, got, own)
			}
			if got := tree.Main().Cum(n); got.Cmp(cum) != 0 {
				t.Fatalf("%v: cum %v, want %v", frames, got, cum)
			}
		}
	})
}

// A filtered tree has exactly the kept stacks, over the same denominator.
func TestFilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stacks := drawStacks(t)
		tree := build(t, stacks)
		word := rapid.SampledFrom([]string{"a", "b", ":RUN"}).Draw(t, "word")
		keep := func(frames []string) bool { return strings.Contains(strings.Join(frames, " "), word) }
		kept := make([]bool, tree.Len())
		for n := range kept {
			kept[n] = keep(tree.Frames(int32(n))[1:])
		}
		got := tree.Filter(kept)
		fixture.Check(t, got.Check())
		want := new(big.Rat)
		for _, s := range stacks {
			if keep(s.frames) {
				want.Add(want, s.hits)
			}
		}
		if hits := got.Main().Cum(0); hits.Cmp(want) != 0 {
			t.Fatalf("kept %v hits, want %v", hits, want)
		}
		if got.Main().Denominator.Cmp(tree.Main().Denominator) != 0 {
			t.Fatalf("denominator %v, was %v", got.Main().Denominator, tree.Main().Denominator)
		}
		for n := range int32(got.Len()) {
			if n > 0 && got.Ends()[n] == n+1 && got.Main().Own(n).Sign() == 0 {
				t.Fatalf("leaf %v has no hits", got.Frames(n))
			}
		}
	})
}

// Whole hits need one plane and no scale; fractions that fit one
// int64 need one plane.
func TestSmallHitsTakeOnePlane(t *testing.T) {
	tree := build(t, []weighed{{[]string{"a"}, big.NewRat(3, 1)}, {[]string{"b"}, big.NewRat(4, 1)}})
	if !tree.Main().Integral() {
		t.Error("whole hits are not integral")
	}
	tree = build(t, []weighed{{[]string{"a"}, big.NewRat(1, 3)}, {[]string{"b"}, big.NewRat(1, 4)}})
	if n := len(tree.Main().Planes()); n != 1 || tree.Main().Integral() {
		t.Errorf("thirds and quarters: %d planes, integral %v", n, tree.Main().Integral())
	}
	if got := tree.Main().Planes()[0].Cum[0]; got != 7 {
		t.Errorf("1/3 + 1/4 = %d/12", got)
	}
	tree = build(t, []weighed{{[]string{"a"}, big.NewRat(math.MaxInt64, 1)}, {[]string{"b"}, big.NewRat(1, 1)}})
	if n := len(tree.Main().Planes()); n != 2 {
		t.Errorf("2^63: %d planes", n)
	}
}

// The default denominator is all hits; a denominator that was
// set stays. A cost is the hits divided by it.
func TestCost(t *testing.T) {
	b := NewBuilder(new(Symbols), "go:main.main", "time", "samples")
	b.Add(0, b.Stack("a"), 1, 2)
	b.SetDenominator(0, big.NewRat(10, 1))
	tree := fixture.Must(b.Tree())(t)
	m := tree.Main()
	if got := m.Cost(m.Cum(0)); got.Cmp(big.NewRat(1, 20)) != 0 {
		t.Errorf("1/2 of 10 costs %v", got)
	}
	if got := build(t, nil).Main().Cost(big.NewRat(1, 1)); got.Sign() != 0 {
		t.Errorf("a cost over no hits is %v", got)
	}
}

func TestMetrics(t *testing.T) {
	b := NewBuilder(new(Symbols), RootName, "time", "seconds")
	calls := b.AddMetric("calls", "calls")
	n := b.Stack("a", "b")
	b.Add(0, n, 1, 3)
	b.Add(calls, n, 5, 1)
	b.Add(calls, b.Stack("a"), 2, 1)
	tree := fixture.Must(b.Tree())(t)
	fixture.Check(t, tree.Check())
	if got := tree.Metrics()[calls].Cum(1); got.Cmp(big.NewRat(7, 1)) != 0 {
		t.Errorf("calls through a: %v", got)
	}
	if got := tree.Metrics()[0].Cum(1); got.Cmp(big.NewRat(1, 3)) != 0 {
		t.Errorf("time in a: %v", got)
	}
}

func TestKindOf(t *testing.T) {
	for name, want := range map[string]Kind{
		"*": Root, ":RUN": Typed, ":IO-wait": Typed, "go:main.worker": Class, "label:route=/a": Class,
		"main.worker": Function, "net/http.(*conn).serve": Function, "": Function, "gopher": Function,
	} {
		if got := KindOf(name); got != want {
			t.Errorf("KindOf(%q) = %d, want %d", name, got, want)
		}
	}
}

// Check reports each broken property.
func TestCheckTellsWhatIsBroken(t *testing.T) {
	good := func() *Tree {
		return build(t, []weighed{
			{[]string{"a", "b"}, big.NewRat(1, 1)},
			{[]string{"a", "c"}, big.NewRat(2, 1)},
			{[]string{"d"}, big.NewRat(3, 1)},
		})
	}
	for _, c := range []struct {
		name, want string
		breakIt    func(*Tree)
	}{
		{"no nodes", "no root", func(t *Tree) { t.parent = nil }},
		{"ends missing", "ends", func(t *Tree) { t.end = t.end[:2] }},
		{"root's parent", "root has parent 3", func(t *Tree) { t.parent[0] = 3 }},
		{"root's end", "root has parent -1, end 1", func(t *Tree) { t.end[0] = 1 }},
		{"frame", "node 2: frame 99", func(t *Tree) { t.fn[2] = 99 }},
		{"parent after child", "node 1: parent 4", func(t *Tree) { t.parent[1] = 4 }},
		{"subtree too long", "node 2: subtree ends at 5", func(t *Tree) { t.end[2] = 5 }},
		{"not preorder", "node 3: not in preorder", func(t *Tree) { t.end[2] = 4 }},
		{"no metric", "no metric", func(t *Tree) { t.metrics = nil }},
		{"denominator", "denominator", func(t *Tree) { t.metrics[0].Denominator = nil }},
		{"own hits", "cum", func(t *Tree) { t.metrics[0].planes[0].Own[2]++ }},
		{"plane too short", "own", func(t *Tree) { t.metrics[0].planes[0].Own = nil }},
	} {
		tree := good()
		c.breakIt(tree)
		if err := tree.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestMembership(t *testing.T) {
	s := new(Symbols)
	for _, n := range []string{"*", "a.X", "b.X", ":RUN", "go:a.X"} {
		s.Intern(n)
	}
	m := NewMembership(s, []string{"@A", "@X"}, func(set int, f string) bool {
		return set == 0 && strings.HasPrefix(f, "a.") || set == 1 && strings.HasSuffix(f, ".X")
	})
	for name, want := range map[string]int{"*": 0, "a.X": 2, "b.X": 1, ":RUN": 0, "go:a.X": 0} {
		if got := m.Of(s.Lookup(name)); len(got) != want {
			t.Errorf("%s belongs to %v, want %d sets", name, got, want)
		}
	}
	if got := m.Of(s.Intern("a.Later")); got != nil {
		t.Errorf("a later function belongs to %v", got)
	}
	if m.Set("@X") != 1 || m.Set("@Y") != -1 {
		t.Error("sets are not found by name")
	}
}

// "*" is the root, whatever the root's name is.
func TestNamed(t *testing.T) {
	b := NewBuilder(new(Symbols), "go:main.main", "time", "samples")
	b.Stack("main.main")
	tree := fixture.Must(b.Tree())(t)
	root, main := tree.Funcs()[0], tree.Funcs()[1]
	for name, want := range map[string]Func{"*": root, "go:main.main": root, "main.main": main, "main": None} {
		if got := tree.Named(name); got != want {
			t.Errorf("%s is frame %d, want %d", name, got, want)
		}
	}
}

// The tree of the root's only child has all nodes but the root.
func TestBelowRoot(t *testing.T) {
	b := NewBuilder(new(Symbols), RootName, "time", "s")
	b.Add(0, b.Stack("thread", "f"), 1, 3)
	b.Add(0, b.Stack("thread"), 1<<62, 1)
	tree := fixture.Must(b.Tree())(t)
	below, ok := tree.BelowRoot()
	if !ok || below.Root() != "thread" || below.Len() != 2 {
		t.Fatalf("%v, %v", below, ok)
	}
	for _, tr := range []*Tree{below, tree} {
		if err := tr.Check(); err != nil {
			t.Error(err)
		}
	}
	for n := range int32(2) {
		if got, want := below.Main().Cum(n), tree.Main().Cum(n+1); got.Cmp(want) != 0 {
			t.Errorf("node %d: %s, want %s", n, got, want)
		}
	}
	if _, ok := below.BelowRoot(); ok {
		t.Error("a root with hits of its own is passed over")
	}
	b = NewBuilder(new(Symbols), RootName, "time", "s")
	b.Stack("thread")
	b.Stack("other")
	tree = fixture.Must(b.Tree())(t)
	if _, ok := tree.BelowRoot(); ok {
		t.Error("a root with two children is passed over")
	}
	single := fixture.Must(NewBuilder(new(Symbols), RootName, "time", "s").Tree())(t)
	if _, ok := single.BelowRoot(); ok {
		t.Error("a root without children has something below it")
	}
}
