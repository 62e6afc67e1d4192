package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/vectors"
	"github.com/cpprof/cpprof/sampledata/interchange"
	"github.com/cpprof/cpprof/views"
	"github.com/cpprof/cpprof/views/calltree"
)

type arcflowVectors struct {
	Comment       string
	ProcessThread string `json:"process_thread"`
	Trace         []string
	Total         int64
	Model         any
	Xtree         []struct {
		Level int
		arcflowRow
	}
	Xprof []arcflowRow
	Xarc  []struct {
		Self              arcflowRow
		Parents, Children []arcflowRow
	}
}

type arcflowRow struct {
	Name      string
	Calls     int64
	Base, Cum json.Number
}

func (r arcflowRow) String() string {
	percent := func(n json.Number) string {
		v, ok := new(big.Rat).SetString(n.String())
		if !ok {
			return n.String()
		}
		return v.FloatString(2)
	}
	return fmt.Sprintf("%s: %d calls, base %s, cum %s", r.Name, r.Calls, percent(r.Base), percent(r.Cum))
}

func rowText(r XRow) string {
	w := r.Weights[0]
	return fmt.Sprintf("%s: %s calls, base %s, cum %s", r.Name, r.Calls, w.Base.Percent(), w.Cum.Percent())
}

func rowsText[R any](title string, rows []R, text func(R) string) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(title + " " + text(r) + "\n")
	}
	return b.String()
}

func traceTree(t testing.TB, trace ...string) *calltree.Tree {
	t.Helper()
	in := fixture.Must(
		interchange.Stream(strings.NewReader(strings.Join(trace, "\n")), "trace", "arcflow"))(t)
	r := fixture.Must(in.Recording(interchange.Options{}))(t)
	v := fixture.Must(views.Server(r, views.Options{}))(t)
	return v.Tree
}

func eachArcflowVector(t *testing.T, check func(t *testing.T, f arcflowVectors, tree *calltree.Tree)) {
	for _, file := range vectors.Files(t, "arcflow*.json") {
		t.Run(file, func(t *testing.T) {
			var f arcflowVectors
			vectors.Decode(t, file, &f)
			if len(f.Xtree) == 0 || len(f.Xprof) == 0 || len(f.Xarc) == 0 {
				t.Errorf("a report is missing")
			}
			process := "0 pidtid " + strings.TrimSuffix(f.ProcessThread, "_pidtid")
			check(t, f, traceTree(t, append([]string{process}, f.Trace...)...))
		})
	}
}

func TestVectorsXTree(t *testing.T) {
	eachArcflowVector(t, func(t *testing.T, f arcflowVectors, tree *calltree.Tree) {
		var got, want string
		for r := range XTree(tree, XOptions{}) {
			got += fmt.Sprintf("%d %s\n", r.Level, rowText(r.Node))
		}
		for _, r := range f.Xtree {
			want += fmt.Sprintf("%d %s\n", r.Level, r.arcflowRow)
		}
		if got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

func TestVectorsXProf(t *testing.T) {
	eachArcflowVector(t, func(t *testing.T, f arcflowVectors, tree *calltree.Tree) {
		got := rowsText("", XProf(tree, XOptions{}), rowText)
		if want := rowsText("", f.Xprof, arcflowRow.String); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

func TestVectorsXArc(t *testing.T) {
	eachArcflowVector(t, func(t *testing.T, f arcflowVectors, tree *calltree.Tree) {
		got := make(map[string]string)
		for s := range XArc(tree, XOptions{}) {
			got[s.Self.Name] = rowsText("parent", s.Parents, rowText) + rowText(s.Self) + "\n" + rowsText("child", s.Children, rowText)
		}
		if len(got) != len(f.Xarc) {
			t.Errorf("%d stanzas, want %d", len(got), len(f.Xarc))
		}
		for _, s := range f.Xarc {
			want := rowsText("parent", s.Parents, arcflowRow.String) + s.Self.String() + "\n" +
				rowsText("child", s.Children, arcflowRow.String)
			if got[s.Self.Name] != want {
				t.Errorf("got\n%swant\n%s", got[s.Self.Name], want)
			}
		}
	})
}

// drawTree draws a tree of two metrics: a time in uneven
// fractions, and calls.
func drawTree(t *rapid.T, recursion bool) *calltree.Tree {
	b := calltree.NewBuilder(new(calltree.Symbols), "root", "time", "seconds")
	b.AddMetric(calltree.CallsName, calltree.CallsName)
	names := []string{"a", "b", "c", "d", "e"}
	large := rapid.Bool().Draw(t, "large")
	for range rapid.IntRange(1, 20).Draw(t, "stacks") {
		var stack []string
		if recursion {
			stack = rapid.SliceOfN(rapid.SampledFrom(names), 0, 9).Draw(t, "stack")
		} else {
			stack = rapid.Permutation(names).Draw(t, "stack")[:rapid.IntRange(0, 5).Draw(t, "depth")]
		}
		n := b.Stack(stack...)
		b.Add(0, n, rapid.Int64Range(0, 30).Draw(t, "hits"), rapid.Int64Range(1, 7).Draw(t, "of"))
		b.Add(1, n, rapid.Int64Range(0, 3).Draw(t, "calls"), 1)
		if large {
			b.AddRat(0, n, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(5), 80)))
		}
	}
	return fixture.Must(b.Tree())(t)
}

func TestXArcInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, false)
		for s := range XArc(tree, XOptions{}) {
			self := s.Self.Weights[0]
			if s.Self.Name != "root" {
				sumsTo(t, "calls by parent", s.Parents, s.Self.Calls.Exact(), func(r XRow) *big.Rat { return r.Calls.Exact() })
				sumsTo(t, "base by parent", s.Parents, self.Base.Exact(), func(r XRow) *big.Rat { return r.Weights[0].Base.Exact() })
				sumsTo(t, "cum by parent", s.Parents, self.Cum.Exact(), func(r XRow) *big.Rat { return r.Weights[0].Cum.Exact() })
			}
			below := new(big.Rat).Sub(self.Cum.Exact(), self.Base.Exact())
			sumsTo(t, "cum of children", s.Children, below, func(r XRow) *big.Rat { return r.Weights[0].Cum.Exact() })
		}
	})
}

func sumsTo(t *rapid.T, what string, rows []XRow, want *big.Rat, of func(XRow) *big.Rat) {
	sum := new(big.Rat)
	for _, r := range rows {
		sum.Add(sum, of(r))
	}
	if sum.Cmp(want) != 0 {
		t.Fatalf("%s: %s, want %s", what, sum.RatString(), want.RatString())
	}
}

func TestXArcOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, true)
		ordered := func(what string, rows []XRow, sign int) {
			for i := 1; i < len(rows); i++ {
				a, b := rows[i-1], rows[i]
				c := a.Weights[0].Cum.Exact().Cmp(b.Weights[0].Cum.Exact())
				if c == 0 {
					c = a.Weights[0].Base.Exact().Cmp(b.Weights[0].Base.Exact())
				}
				if c*sign < 0 || c == 0 && a.Name >= b.Name && b.Name != "root" {
					t.Fatalf("%s: %s before %s", what, rowText(a), rowText(b))
				}
			}
		}
		var selves []XRow
		for s := range XArc(tree, XOptions{}) {
			ordered("parents", s.Parents, -1)
			ordered("children", s.Children, 1)
			selves = append(selves, s.Self)
		}
		rows := XProf(tree, XOptions{})
		for i, r := range rows {
			if r.Name != selves[i].Name {
				t.Fatalf("xprof has %s at %d, xarc %s", r.Name, i, selves[i].Name)
			}
		}
		if rows[0].Name != "root" {
			t.Fatalf("%s comes before the root", rows[0].Name)
		}
		ordered("functions", rows[1:], 1)
	})
}

func TestNoCumIsAboveTheWhole(t *testing.T) {
	one := big.NewRat(1, 1)
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, true)
		check := func(rows ...XRow) {
			for _, r := range rows {
				if c := r.Weights[0].Cum.Cost(); c.Cmp(one) > 0 {
					t.Fatalf("%s costs %s", r.Name, c.RatString())
				}
			}
		}
		check(XProf(tree, XOptions{})...)
		for s := range XArc(tree, XOptions{}) {
			check(append(append(s.Parents, s.Children...), s.Self)...)
		}
	})
}

// TestCumIsThatOfTheStacks compares cum with its definition: the
// hits of the stacks that have the function, or the call.
func TestCumIsThatOfTheStacks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, true)
		cum := func(frames ...string) *big.Rat {
			sum := new(big.Rat)
			for n := range int32(tree.Len()) {
				stack := " " + strings.Join(tree.Frames(n), " ") + " "
				if strings.Contains(stack, " "+strings.Join(frames, " ")+" ") {
					sum.Add(sum, tree.Main().Own(n))
				}
			}
			return sum
		}
		for s := range XArc(tree, XOptions{}) {
			if got, want := s.Self.Weights[0].Cum.Exact(), cum(s.Self.Name); got.Cmp(want) != 0 {
				t.Fatalf("%s: %s, want %s", s.Self.Name, got, want)
			}
			for _, c := range s.Children {
				if got, want := c.Weights[0].Cum.Exact(), cum(s.Self.Name, c.Name); got.Cmp(want) != 0 {
					t.Fatalf("%s %s: %s, want %s", s.Self.Name, c.Name, got, want)
				}
			}
		}
	})
}

func TestPercentInWordsIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := calltree.NewBuilder(new(calltree.Symbols), "root", "m", "u")
		n := b.Stack("a")
		b.Add(0, n, rapid.Int64Range(-1<<40, 1<<62).Draw(t, "hits"), rapid.Int64Range(1, 1000).Draw(t, "of"))
		b.SetDenominator(0, big.NewRat(rapid.Int64Range(0, 1<<62).Draw(t, "denominator"), rapid.Int64Range(1, 9).Draw(t, "of")))
		tree := fixture.Must(b.Tree())(t)
		a := XProf(tree, XOptions{})[0].Weights[0].Cum
		want := new(big.Rat).Mul(a.Cost(), big.NewRat(100, 1)).FloatString(2)
		if got := a.Percent(); got != want && want != "-0.00" {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}

var paperTrace = []string{"0 pidtid AC_test", "0 > Main", "0 > A", "1 > B", "2 < B", "2 > B", "3 > C", "4 < C", "4 < B", "4 < A",
	"4 > B", "5 > A", "6 > C", "7 < C", "7 > X", "7 > E", "8 < E", "8 > F", "9 < F", "9 > G", "10 < G", "10 < X", "10 < A",
	"10 < B", "10 < Main"}

func TestXReportsLookAsInThePaper(t *testing.T) {
	tree := traceTree(t, paperTrace...)
	write := func(f func(*bytes.Buffer), want string) {
		t.Helper()
		var b bytes.Buffer
		if f(&b); b.String() != want {
			t.Errorf("got\n%swant\n%s", b.String(), want)
		}
	}
	write(func(b *bytes.Buffer) { WriteXTree(b, tree, XOptions{}) },
		`xtree report (Units :: CPU time; Total :: 10)
  Lv   RL     Calls    %Base     %Cum  Indent Name
   0    1         1     0.00   100.00  AC_test_pidtid
   1    1         1     0.00   100.00  - Main
   2    1         1    10.00    40.00  -- A
   3    1         2    20.00    30.00  --- B
   4    1         1    10.00    10.00  ---- C
   2    1         1    10.00    60.00  -- B
   3    1         1    10.00    50.00  --- A
   4    1         1    10.00    10.00  ---- C
   4    1         1     0.00    30.00  ---- X
   5    1         1    10.00    10.00  ----+ E
   5    1         1    10.00    10.00  ----+ F
   5    1         1    10.00    10.00  ----+ G
`)
	write(func(b *bytes.Buffer) { WriteXProf(b, tree, XOptions{MinCum: big.NewRat(1, 4)}) },
		`xprof report (Units :: CPU time; Total :: 10)
    Calls    %Base     %Cum   Ind  Name
      ===    =====     ====   ===  ====
        1     0.00   100.00     0  AC_test_pidtid
        1     0.00   100.00     1  Main
        3    30.00    90.00     2  B
        2    20.00    90.00     3  A
        1     0.00    30.00     4  X
        8
`)
	write(func(b *bytes.Buffer) {
		WriteXArc(b, tree, XOptions{Keep: func(name string) bool { return name == "A" || name == "C" }})
	}, `xarc report (Units :: CPU time; Total :: 10)
Source     Calls    %Base     %Cum  Function
======       ===    =====     ====  ========
Parent         1    10.00    40.00  Main
Parent         1    10.00    50.00  B
Self           2    20.00    90.00  [0] A
Child          2    20.00    30.00  B
Child          1     0.00    30.00  X
Child          1    10.00    10.00  C
======       ===    =====     ====  ========
Parent         1    10.00    10.00  A
Parent         1    10.00    10.00  B
Self           2    20.00    20.00  [1] C
`)
}

func TestXReportsOfSeveralMetrics(t *testing.T) {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "alloc_space", "bytes")
	b.AddMetric("time", "samples")
	n := b.Stack("main", "f", "f")
	b.Add(0, n, 512, 1)
	b.Add(1, n, 1, 3)
	b.Add(1, b.Stack("main"), 2, 3)
	tree := fixture.Must(b.Tree())(t)
	var out bytes.Buffer
	WriteXTree(&out, tree, XOptions{})
	want := `xtree report (Units :: alloc_space, bytes; Total :: 512 | Units :: time, samples; Total :: 1)
  Lv   RL   Samples %Base alloc_space %Cum alloc_space %Base time %Cum time  Indent Name
   0    1         0              0.00           100.00       0.00    100.00  *
   1    1      0.67              0.00           100.00      66.67    100.00  - main
   2    1         0              0.00           100.00       0.00     33.33  -- f
   3    2      0.33            100.00           100.00      33.33     33.33  --- f
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	rows := XProf(tree, XOptions{Metrics: []int{1}, Depth: 1})
	got := fixture.Must(json.Marshal(rows))(t)
	wantJSON := `[{"name":"*","calls":0,"weights":[{"metric":"time","unit":"samples","base":0,"cum":1,"base_percent":0.00,"cum_percent":100.00}]},` +
		`{"name":"main","calls":0.666667,"weights":[{"metric":"time","unit":"samples","base":0.666667,"cum":1,"base_percent":66.67,"cum_percent":100.00}]}]`
	if string(got) != wantJSON {
		t.Errorf("got  %s\nwant %s", got, wantJSON)
	}
}

func TestXTreePrunes(t *testing.T) {
	tree := traceTree(t, paperTrace...)
	names := func(o XOptions) string {
		var out []string
		for r := range XTree(tree, o) {
			out = append(out, r.Node.Name)
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		options XOptions
		want    string
	}{
		{XOptions{Depth: 2}, "AC_test_pidtid Main A B"},
		{XOptions{MinCum: big.NewRat(3, 10)}, "AC_test_pidtid Main A B B A X"},
		{XOptions{Keep: func(n string) bool { return n == "X" }}, "AC_test_pidtid Main B A X E F G"},
		{XOptions{Keep: func(n string) bool { return n == "nothing" }}, ""},
	} {
		if got := names(c.options); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
