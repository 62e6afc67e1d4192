package callpath

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views/calltree"
)

// TestLongPaths checks that the table of a path with thousands
// of names stays small, and that its costs are right.
func TestLongPaths(t *testing.T) {
	const depth = 5000
	b := calltree.NewBuilder(new(calltree.Symbols), "*", "time", "samples")
	p := Of(Frame("*"))
	var n int32
	for i := range depth {
		f := Frame(fmt.Sprintf("f%d", i))
		n = b.Child(n, b.Symbols().Intern(f.Name))
		b.Add(0, n, 1, 1)
		p = Path{append(p.Elements, f), append(p.Specs, Spec(i%2))}
	}
	tree := fixture.Must(b.Tree())(t)
	a := Compile(tree, nil, p, Nothing)
	if len(a.table) > 2*maxTable {
		t.Errorf("a table of %d states", len(a.table))
	}
	cases := []struct {
		p    Path
		want int64
	}{
		{p, 1},
		{p.Prefix(depth / 2), depth/2 + 2},
		{p.Then(Frame("f7"), Extended), 0},
		{Of(Frame("f0")).Join(Extended, Path{p.Elements[4:], p.Specs[4:]}), 1},
		{Path{}, 0},
	}
	var paths []Path
	for _, c := range cases {
		paths = append(paths, c.p)
	}
	for i, got := range Totals(tree, nil, paths) {
		if c := cases[i]; got.Weight.Cmp(big.NewRat(c.want, 1)) != 0 {
			t.Errorf("a path of %d elements weighs %s, want %d", len(c.p.Elements), got.Weight.RatString(), c.want)
		}
	}
}

func TestUnknown(t *testing.T) {
	syms := new(calltree.Symbols)
	b := calltree.NewBuilder(syms, "*", "time", "samples")
	b.Add(0, b.Stack("example.com/srv.(*Worker).Do", "main.encode", "main.decode", ":RUN"), 1, 1)
	syms.Intern("main.elsewhere") // of another view
	tree := fixture.Must(b.Tree())(t)
	m := calltree.NewMembership(syms, []string{"@net", "@main"}, func(set int, f string) bool {
		return set == 1 && strings.HasPrefix(f, "main.")
	})
	for _, c := range []struct {
		path string
		want []string
	}{
		{"* main.encode ..@main ..:RUN", nil},
		{"main.encdoe", []string{"main.encdoe does not occur in this view: did you mean main.encode?"}},
		{"srv.(*Worker).Do", []string{"srv.(*Worker).Do does not occur in this view: did you mean example.com/srv.(*Worker).Do?"}},
		{"main.edcode", []string{"main.edcode does not occur in this view: did you mean main.decode, or main.encode?"}},
		{":run", []string{":run does not occur in this view: did you mean :RUN?"}},
		{"main.elsewhere zzz zzz", []string{"main.elsewhere does not occur in this view, and no similar name does", "zzz does not occur in this view, and no similar name does"}},
		{"@net ..@mian", []string{"no function of this view belongs to @net", "there is no aspect @mian: did you mean @main?"}},
	} {
		p := fixture.Must(Parse(c.path))(t)
		if got := Unknown(tree, m, p); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.path, got, c.want)
		}
	}
	if got := Unknown(tree, nil, Of(Element{Name: "@net"})); len(got) != 1 {
		t.Errorf("without aspects: %q", got)
	}
}
