package report

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/refine"
	"github.com/cpprof/cpprof/views/calltree"
)

// weighedTree builds a tree from stacks such as "HITS frame
// frame ..."; its denominator is 100.
func weighedTree(t *testing.T, stacks ...string) *calltree.Tree {
	t.Helper()
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "samples")
	b.SetDenominator(0, big.NewRat(100, 1))
	for _, s := range stacks {
		words := strings.Fields(s)
		hits, ok := new(big.Rat).SetString(words[0])
		if !ok {
			t.Fatalf("no hits in %q", s)
		}
		b.AddRat(0, b.Stack(words[1:]...), hits)
	}
	return fixture.Must(b.Tree())(t)
}

func compared(t *testing.T, a, b *calltree.Tree, steps ...refine.Step) *Comparison {
	t.Helper()
	both := fixture.Must(calltree.Merge(a, b))(t)
	s := refine.NewSession(both, calltree.NewMembership(both.Symbols(), nil, nil))
	for _, step := range steps {
		fixture.Check(t, s.Apply(step))
	}
	return &Comparison{Session: s, Title: "View", New: "new", Old: "old"}
}

// The comparison has the entries that are new, gone, changed and
// unchanged; the largest change comes first.
func TestComparison(t *testing.T) {
	a := weighedTree(t, "30 main f", "20 main same", "15 main added", "1/3 main small")
	b := weighedTree(t, "10 main f", "20 main same", "40 main gone")
	c := compared(t, a, b, refine.Step{Kind: refine.KindDown, Text: "* main"})
	var out strings.Builder
	c.Write(&out)
	want := `View: old is old, new is new

   old     new  change  call path
 0.700   0.653  -0.047  *
 0.700   0.653  -0.047    main
 0.400   0.000  -0.400      gone
 0.100   0.300  +0.200      f
 0.000   0.150  +0.150      added
 0.200   0.200   0.000      same

1 more below 10 hits in both together (--min 0 shows all)
`
	if out.String() != want {
		t.Errorf("got:\n%s", out.String())
	}
}

// A pruned comparison keeps its denominators; the JSON has the
// same entries as the text.
func TestComparisonAsData(t *testing.T) {
	a, b := weighedTree(t, "30 main f", "20 main g"), weighedTree(t, "10 main f", "50 main g")
	c := compared(t, a, b, refine.Step{Kind: refine.KindDown, Text: "*"}, refine.Step{Kind: refine.KindPrune, Text: "not g"})
	var out strings.Builder
	fixture.Check(t, c.WriteJSON(&out))
	var got comparisonJSON
	fixture.Check(t, json.Unmarshal([]byte(out.String()), &got))
	if root := got.Profile; root.New != 0.3 || root.Old != 0.1 || len(root.Children) != 1 || root.Children[0].Path != "* main" || len(got.Steps) != 2 {
		t.Errorf("got %s", out.String())
	}
}

func TestSigned(t *testing.T) {
	for want, d := range map[string]*big.Rat{
		"+0.250": big.NewRat(1, 4), "-1.000": big.NewRat(-1, 1), "0.000": big.NewRat(-1, 100_000), "+0.001": big.NewRat(1, 1999),
	} {
		if got := Signed(d); got != want {
			t.Errorf("%v is shown as %s, want %s", d, got, want)
		}
	}
}

// A list of any length is valid JSON, and has the rows of the text.
func TestXReportsAsData(t *testing.T) {
	tree := weighedTree(t, "30 main f<T>", "20 main g", "1/3 main")
	for name, c := range map[string]struct {
		keep func(string) bool
		want []int // rows of xtree, xprof and xarc
	}{
		"all":  {nil, []int{4, 4, 4}},
		"none": {func(string) bool { return false }, []int{0, 0, 0}},
		"one":  {func(n string) bool { return n == "g" }, []int{3, 1, 1}},
	} {
		var texts [3]strings.Builder
		o := XOptions{Keep: c.keep}
		basis := BasisOf()
		for i, err := range []error{
			WriteXTreeJSON(&texts[0], tree, o, basis), WriteXProfJSON(&texts[1], tree, o, basis), WriteXArcJSON(&texts[2], tree, o, basis),
		} {
			fixture.Check(t, err)
			var got struct{ Rows, Stanzas []map[string]any }
			if err := json.Unmarshal([]byte(texts[i].String()), &got); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, texts[i].String())
			}
			rows := append(got.Rows, got.Stanzas...)
			if len(rows) != c.want[i] {
				t.Errorf("%s: report %d has %d rows, want %d", name, i, len(rows), c.want[i])
			}
			if c.keep == nil && !strings.Contains(texts[i].String(), "f<T>") {
				t.Errorf("names are escaped: %s", texts[i].String())
			}
		}
	}
}
