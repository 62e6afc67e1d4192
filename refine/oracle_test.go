package refine

import (
	"math/big"
	"slices"
	"testing"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views/calltree"
	"pgregory.net/rapid"
)

// An oracle evaluates the definition directly: it tries all
// positions, stack by stack. It shares only the path notation
// with the code that it checks.
type oracle struct {
	stacks  []oracleStack
	aspects map[string][]string
}

type oracleStack struct {
	frames []string
	hits   *big.Rat
}

// part returns the number of the goroutine's part that frame i is in.
func (s oracleStack) part(i int) int {
	var n int
	for _, f := range s.frames[1 : max(i, 0)+1] {
		if calltree.KindOf(f) == calltree.Class {
			n++
		}
	}
	return n
}

func (o *oracle) is(frame string, e callpath.Element) bool {
	if e.Aspect() {
		return calltree.KindOf(frame) == calltree.Function && slices.Contains(o.aspects[e.Name], frame)
	}
	if e.Name == "*" && len(o.stacks) > 0 { // the root, whatever its name is
		return frame == o.stacks[0].frames[0]
	}
	return frame == e.Name
}

func (o *oracle) satisfies(s oracleStack, p callpath.Path) bool {
	if last := lastInPlace(p); last >= 0 {
		at := o.first(s, p.Prefix(last+1))
		return at >= 0 && at+1 < len(s.frames) && o.is(s.frames[at+1], p.Elements[last+1]) && o.from(s, p, last+1, at+1)
	}
	if len(p.Elements) == 1 {
		for i, f := range s.frames {
			if s.part(i) == 0 && o.is(f, p.Elements[0]) {
				return true
			}
		}
		return false
	}
	return o.from(s, p, 0, 0)
}

// lastInPlace returns the number of the last call in place of a
// path, or -1.
func lastInPlace(p callpath.Path) int {
	last := len(p.Specs) - 1
	for last >= 0 && p.Specs[last] != callpath.InPlace {
		last--
	}
	return last
}

// first returns the first frame of a stack at which a path is
// satisfied, or -1.
func (o *oracle) first(s oracleStack, p callpath.Path) int {
	for i := range s.frames {
		if o.satisfies(oracleStack{frames: s.frames[:i+1]}, p) {
			return i
		}
	}
	return -1
}

// from reports whether the specs of p from i on are satisfied
// with p(i) >= at, in the part of frame at.
func (o *oracle) from(s oracleStack, p callpath.Path, i, at int) bool {
	if i == len(p.Specs) {
		return true
	}
	e, next := p.Elements[i], p.Elements[i+1]
	for pos := at; pos < len(s.frames) && s.part(pos) == s.part(at); pos++ {
		if !o.is(s.frames[pos], e) {
			continue
		}
		for q := pos; q < len(s.frames); q++ {
			var found bool
			switch same := s.part(q) == s.part(pos); {
			case p.Specs[i] == callpath.Extended:
				found = q > pos && same && o.is(s.frames[q], next)
			case e.Aspect():
				found = !next.Aspect() && same && o.is(s.frames[q], next) && o.is(s.frames[q], e)
			default:
				found = q == pos+1 && o.is(s.frames[q], next)
			}
			if found && o.from(s, p, i+1, q) {
				return true
			}
		}
	}
	return false
}

// shares reports whether a stack satisfies the path of a result,
// and also that of another one; neither is an aspect.
func (o *oracle) shares(of Result, results []Result) bool {
	element := func(r Result) callpath.Element { last, _ := r.Path.Last(); return last }
	above, _ := of.Path.Prefix(len(of.Path.Elements) - 1).Last()
	if above.Aspect() || element(of).Aspect() {
		return false
	}
	for _, s := range o.stacks {
		for _, r := range results {
			if element(r) != element(of) && !element(r).Aspect() && o.satisfies(s, of.Path) && o.satisfies(s, r.Path) {
				return true
			}
		}
	}
	return false
}

func (o *oracle) cost(p callpath.Path) *big.Rat {
	sum := new(big.Rat)
	for _, s := range o.stacks {
		if o.satisfies(s, p) {
			sum.Add(sum, s.hits)
		}
	}
	return sum
}

// results returns, by x, the hits of the path of every x.
func (o *oracle) results(path func(x callpath.Element) callpath.Path) map[callpath.Element]string {
	xs := map[callpath.Element]bool{}
	for _, s := range o.stacks {
		for _, f := range s.frames {
			xs[callpath.Frame(f)] = true
		}
	}
	for a := range o.aspects {
		xs[callpath.Element{Name: a}] = true
	}
	hits := map[callpath.Element]string{}
	for x := range xs {
		if c := o.cost(path(x)); c.Sign() != 0 {
			hits[x] = c.RatString()
		}
	}
	return hits
}

// tree builds the same stacks. Each hit weighs a factor.
func (o *oracle) tree(t *rapid.T, by *big.Rat) (*calltree.Tree, *calltree.Membership) {
	syms := new(calltree.Symbols)
	b := calltree.NewBuilder(syms, o.stacks[0].frames[0], "time", "samples")
	for _, s := range o.stacks {
		b.AddTotal(0, b.Stack(s.frames[1:]...), calltree.Total{Weight: new(big.Rat).Mul(s.hits, by), Hits: s.hits})
	}
	tree := fixture.Must(b.Tree())(t)
	fixture.Check(t, tree.Check())
	var names []string
	for a := range o.aspects {
		names = append(names, a)
	}
	slices.Sort(names)
	m := calltree.NewMembership(syms, names, func(set int, f string) bool {
		return slices.Contains(o.aspects[names[set]], f)
	})
	return tree, m
}

var (
	functions = []string{"f", "g", "h"}
	times     = []string{":RUN", ":MONITOR", ":IO-wait"}
	classes   = []string{"go:v", "go:w"}
	roots     = []string{"*", "go:w", "f"}
)

func drawOracle(t *rapid.T) *oracle {
	o := &oracle{aspects: map[string][]string{}}
	for _, a := range []string{"@A", "@B"}[:rapid.IntRange(0, 2).Draw(t, "aspects")] {
		o.aspects[a] = rapid.SliceOfNDistinct(rapid.SampledFrom(functions), 0, 3, rapid.ID).Draw(t, a)
	}
	root := rapid.SampledFrom(roots).Draw(t, "root")
	frame := rapid.OneOf(rapid.SampledFrom(functions), rapid.SampledFrom(functions), rapid.SampledFrom(times), rapid.SampledFrom(classes))
	for range rapid.IntRange(1, 6).Draw(t, "stacks") {
		o.stacks = append(o.stacks, oracleStack{
			frames: append([]string{root}, rapid.SliceOfN(frame, 0, 9).Draw(t, "frames")...),
			hits:   big.NewRat(rapid.Int64Range(1, 20).Draw(t, "hits"), rapid.Int64Range(1, 6).Draw(t, "of")),
		})
	}
	return o
}

func drawSpec(t *rapid.T) callpath.Spec {
	return rapid.SampledFrom([]callpath.Spec{callpath.Immediate, callpath.Extended, callpath.InPlace}).Draw(t, "spec")
}

// drawPath draws elements from all that can occur; half of the
// paths begin with a root.
func drawPath(t *rapid.T, label string, longest int) callpath.Path {
	var p callpath.Path
	for i := range rapid.IntRange(1, longest).Draw(t, label) {
		from := [][]string{functions, functions, {"@A", "@B"}, times, classes}
		if i == 0 {
			from = append(from, roots, roots, roots, roots)
		}
		p.Elements = append(p.Elements, callpath.Element{Name: rapid.SampledFrom(slices.Concat(from...)).Draw(t, "element")})
		if i > 0 {
			p.Specs = append(p.Specs, drawSpec(t))
		}
	}
	return p
}

// drawFrom draws the elements from a stack, mostly so that the
// stack satisfies the path.
func drawFrom(t *rapid.T, o *oracle) callpath.Path {
	frames := rapid.SampledFrom(o.stacks).Draw(t, "stack").frames
	var p callpath.Path
	for i := 0; i < len(frames); {
		e := callpath.Frame(frames[i])
		for _, a := range []string{"@A", "@B"} {
			if slices.Contains(o.aspects[a], frames[i]) && rapid.IntRange(0, 3).Draw(t, "aspect") == 0 {
				e = callpath.Element{Name: a}
			}
		}
		step := rapid.SampledFrom([]int{1, 1, 1, 1, 2, 3}).Draw(t, "step")
		if len(p.Elements) > 0 {
			spec := drawSpec(t)
			if spec == callpath.Extended && calltree.KindOf(frames[i]) == calltree.Class { // only another spec crosses
				spec = callpath.Immediate
			}
			p.Specs = append(p.Specs, spec)
		}
		p.Elements = append(p.Elements, e)
		i += step
	}
	return p
}

// by multiplies hits: the larger factors need more than one plane.
var by = []*big.Rat{
	big.NewRat(1, 1), big.NewRat(1, 7),
	new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(3), 80)),
	new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(5), 150), big.NewInt(11)),
}

// TestAgainstOracle compares costs, refinements and pruning with
// the definition, in one plane and in several.
func TestAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOracle(t)
		factor := rapid.SampledFrom(by).Draw(t, "by")
		tree, m := o.tree(t, factor)
		p, p2 := drawPath(t, "path", 5), drawPath(t, "suffix", 3)
		if rapid.Bool().Draw(t, "from a stack") {
			p = drawFrom(t, o)
			if n := len(p.Elements); n > 1 && rapid.Bool().Draw(t, "halved") {
				p, p2 = p.Prefix(n/2), callpath.Path{Elements: p.Elements[n/2:], Specs: p.Specs[n/2:]}
			}
		}

		want := new(big.Rat).Mul(o.cost(p), factor)
		if got := callpath.Total(tree, m, p).Weight; got.Cmp(want) != 0 {
			t.Fatalf("cost of %s: %s, want %s", p, got.RatString(), want.RatString())
		}
		for spec := callpath.Immediate; spec <= callpath.InPlace; spec++ {
			results := Down(tree, m, p, spec)
			same(t, factor, results, len(p.Elements), o.results(func(x callpath.Element) callpath.Path {
				return p.Then(x, spec)
			}))
			for _, r := range results {
				if want := spec == callpath.Immediate && o.shares(r, results); r.Shared != want {
					t.Fatalf("%s shares stacks with another callee: %v, want %v", r.Path, r.Shared, want)
				}
			}
		}
		for i := range p2.Specs {
			p2.Specs[i] %= callpath.InPlace // a split has no calls in place after its bar
		}
		same(t, factor, Up(tree, m, p, p2), len(p.Elements), o.results(func(x callpath.Element) callpath.Path {
			return p.Then(x, callpath.Extended).Join(callpath.Immediate, p2)
		}))

		e := drawExpr(t, 3)
		pruned := Prune(tree, m, e)
		fixture.Check(t, pruned.Check())
		left := new(big.Rat)
		for _, s := range o.stacks {
			if o.eval(s, e) {
				left.Add(left, s.hits)
			}
		}
		if got := pruned.Main().Cum(0); got.Cmp(left.Mul(left, factor)) != 0 {
			t.Fatalf("%s leaves %s, want %s", e, got.RatString(), left.RatString())
		}
		rest := Prune(tree, m, callpath.Expr{Op: callpath.OpNot, Args: []callpath.Expr{e}})
		if both := left.Add(left, rest.Main().Cum(0)); both.Cmp(tree.Main().Cum(0)) != 0 {
			t.Fatalf("%s and its negation leave %s of %s", e, both.RatString(), tree.Main().Cum(0).RatString())
		}
	})
}

// same compares results with the oracle's; x is at index i of each path.
func same(t *rapid.T, by *big.Rat, got []Result, i int, want map[callpath.Element]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for _, r := range got {
		w, ok := new(big.Rat).SetString(want[r.Path.Elements[i]])
		if !ok || r.Hits.Cmp(w) != 0 || r.Weight.Cmp(w.Mul(w, by)) != 0 {
			t.Fatalf("%s: %v hits of the weight %v, want %v hits", r.Path, r.Hits, r.Weight, want[r.Path.Elements[i]])
		}
	}
}

func drawExpr(t *rapid.T, depth int) callpath.Expr {
	op := callpath.OpPath
	if depth > 0 {
		op = callpath.Op(rapid.IntRange(0, 3).Draw(t, "op"))
	}
	e := callpath.Expr{Op: op}
	switch op {
	case callpath.OpPath:
		e.Path = drawPath(t, "atom", 3)
	case callpath.OpNot:
		e.Args = []callpath.Expr{drawExpr(t, depth-1)}
	default:
		for range rapid.IntRange(2, 3).Draw(t, "args") {
			e.Args = append(e.Args, drawExpr(t, depth-1))
		}
	}
	return e
}

func (o *oracle) eval(s oracleStack, e callpath.Expr) bool {
	arg := func(a callpath.Expr) bool { return o.eval(s, a) }
	switch e.Op {
	case callpath.OpNot:
		return !arg(e.Args[0])
	case callpath.OpAnd:
		return !slices.ContainsFunc(e.Args, func(a callpath.Expr) bool { return !arg(a) })
	case callpath.OpOr:
		return slices.ContainsFunc(e.Args, arg)
	}
	return o.satisfies(s, e.Path)
}

// TestImmediateRefinementPartitions: without recursion, the
// parts of P are the calls from it and its own hits.
func TestImmediateRefinementPartitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := calltree.NewBuilder(new(calltree.Symbols), "*", "time", "samples")
		names := []string{"a", "b", "c", "d", "e", ":RUN"}
		var stacks []oracleStack
		for range rapid.IntRange(1, 8).Draw(t, "stacks") {
			frames := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 6, rapid.ID).Draw(t, "frames")
			hits := rapid.Int64Range(0, 9).Draw(t, "hits")
			b.Add(0, b.Stack(frames...), hits, 1)
			stacks = append(stacks, oracleStack{append([]string{"*"}, frames...), big.NewRat(hits, 1)})
		}
		tree := fixture.Must(b.Tree())(t)
		p := callpath.Of(callpath.Frame(rapid.SampledFrom(append(names, "*")).Draw(t, "first")))
		if rapid.Bool().Draw(t, "longer") {
			p = p.Then(callpath.Frame(rapid.SampledFrom(names).Draw(t, "last")), callpath.Spec(rapid.IntRange(0, 1).Draw(t, "spec")))
		}
		sum := new(big.Rat)
		for _, r := range Down(tree, nil, p, callpath.Immediate) {
			sum.Add(sum, r.Hits)
		}
		o := oracle{stacks: stacks}
		last, _ := p.Last()
		for _, s := range stacks {
			if s.frames[len(s.frames)-1] == last.Name && o.satisfies(s, p) {
				sum.Add(sum, s.hits)
			}
		}
		if c := callpath.Total(tree, nil, p).Weight; c.Cmp(sum) != 0 {
			t.Fatalf("%s costs %s, its parts %s", p, c.RatString(), sum.RatString())
		}
	})
}
