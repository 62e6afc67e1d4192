package hotspots

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/vectors"
	"github.com/cpprof/cpprof/views/calltree"
)

type vectorFile struct {
	Comment string
	Cases   []vectorCase
}

type vectorCase struct {
	A, B    []vectorNode
	Queries []vectorQuery
}

type vectorQuery struct {
	Profile     string
	Calls       []string
	Base, Cum   int64
	Top, Bottom []string
	With        [][]string
	TotalBase   int64       `json:"total_base"`
	TotalCum    int64       `json:"total_cum"`
	OverlapCum  int64       `json:"overlap_cum"`
	ZoomTop     *[][]string `json:"zoom_top"`
	ZoomBottom  *[][]string `json:"zoom_bottom"`
}

// A vectorNode is written [parent, name, own cost].
type vectorNode struct {
	parent int32
	name   string
	own    int64
}

func (n *vectorNode) UnmarshalJSON(data []byte) error {
	fields := []any{&n.parent, &n.name, &n.own}
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	if len(fields) != 3 {
		return fmt.Errorf("a node of %d fields", len(fields))
	}
	return nil
}

func treeOf(t testing.TB, syms *calltree.Symbols, nodes []vectorNode) *calltree.Tree {
	t.Helper()
	b := calltree.NewBuilder(syms, nodes[0].name, "cost", "units")
	at := make([]int32, len(nodes))
	for i, n := range nodes {
		if i > 0 {
			at[i] = b.Child(at[n.parent], syms.Intern(n.name))
		}
		b.Add(0, at[i], n.own, 1)
	}
	return fixture.Must(b.Tree())(t)
}

func TestVectorsBottlenecks(t *testing.T) {
	for _, file := range vectors.Files(t, "bottlenecks*.json") {
		var f vectorFile
		vectors.Decode(t, file, &f)
		if len(f.Cases) == 0 {
			t.Errorf("%s: no cases", file)
		}
		for i, c := range f.Cases {
			if len(c.Queries) == 0 {
				t.Errorf("%s: case %d: no queries", file, i)
			}
			checkCase(t, fmt.Sprintf("%s: case %d", file, i), c)
		}
	}
}

func checkCase(t *testing.T, where string, c vectorCase) {
	a := treeOf(t, new(calltree.Symbols), c.A)
	profiles := map[string]*Trees{"single": NewSingle(a)}
	if len(c.B) > 0 {
		profiles["diff"] = NewComparison(a, treeOf(t, new(calltree.Symbols), c.B), false)
	}
	for i, q := range c.Queries {
		at := fmt.Sprintf("%s: query %d: %s %q", where, i, q.Profile, q.Calls)
		p := profiles[q.Profile]
		if p == nil {
			t.Errorf("%s: unknown profile", at)
			continue
		}
		checkQuery(t, at, p, q)
	}
}

func checkQuery(t *testing.T, at string, p *Trees, q vectorQuery) {
	s := p.Summary(q.Calls...)
	var with []*Summary
	for _, w := range q.With {
		with = append(with, p.Summary(w...))
	}
	equal := func(what string, got *big.Rat, want int64) {
		if got.Cmp(big.NewRat(want, 1)) != 0 {
			t.Errorf("%s: %s %s, want %d", at, what, got.RatString(), want)
		}
	}
	same := func(what string, got, want []string) {
		if !slices.Equal(got, want) {
			t.Errorf("%s: %s %q, want %q", at, what, got, want)
		}
	}
	equal("base", s.Base(), q.Base)
	equal("cum", s.Cum(), q.Cum)
	same("top extensions", firsts(s.Tops()), q.Top)
	same("bottom extensions", s.BottomExtensions(), q.Bottom)
	all := append([]*Summary{s}, with...)
	equal("total base", p.TotalBase(all...), q.TotalBase)
	equal("total cum", totalCum(p, all), q.TotalCum)
	equal("overlap", cumOverlap(p, s, with...), q.OverlapCum)
	if q.ZoomTop != nil {
		samePaths(t, at+": zoom top", Zoom(s, DefaultCutoff(), (*Summary).Tops), *q.ZoomTop)
	}
	if q.ZoomBottom != nil {
		samePaths(t, at+": zoom bottom", Zoom(s, DefaultCutoff(), (*Summary).Bottoms), *q.ZoomBottom)
	}
}

// firsts returns the first name of each summary.
func firsts(list []*Summary) (names []string) {
	for _, s := range list {
		names = append(names, s.Path()[0])
	}
	return names
}

func totalCum(p *Trees, list []*Summary) *big.Rat {
	if len(list) == 0 {
		return new(big.Rat)
	}
	return p.TotalCums(list...)[len(list)-1]
}

func samePaths(t *testing.T, at string, got []*Summary, want [][]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d summaries, want %q", at, len(got), want)
		return
	}
	for i, s := range got {
		if !slices.Equal(s.Path(), want[i]) {
			t.Errorf("%s: %q at %d, want %q", at, s.Path(), i, want[i])
		}
	}
}
