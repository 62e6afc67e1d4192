package interchange

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/memory"
	"github.com/cpprof/cpprof/internal/vectors"
	"github.com/cpprof/cpprof/views/calltree"
)

func arcflowOf(t testing.TB, lines ...string) *calltree.Tree {
	t.Helper()
	tree, _, err := arcflowTree(strings.NewReader(strings.Join(lines, "\n")), "CPU time", memory.NewBudget(0))
	fixture.Check(t, err)
	fixture.Check(t, tree.Check())
	return tree
}

// model formats a tree like table 3 of the arcflow paper:
// context, occurrences, consumption.
func model(t *calltree.Tree) string {
	var b strings.Builder
	for n := range int32(t.Len()) {
		b.WriteString(strings.Join(t.Frames(n), " "))
		b.WriteString(" " + t.Metrics()[1].Own(n).RatString() + " " + t.Metrics()[0].Own(n).RatString() + "\n")
	}
	return b.String()
}

func TestEventsOfSeveralThreads(t *testing.T) {
	tree := arcflowOf(t,
		"# two threads take turns", "",
		"10 pidtid one", "10 > f", "12.5 > g",
		"13 pidtid two", "14.25 > f",
		"15 pidtid one", "16 < g", "16 < f", "17 > f",
		"17 pidtid two", "20 < f")
	want := `* 1 0
* one_pidtid 1 1
* one_pidtid f 2 5/2
* one_pidtid f g 1 3/2
* two_pidtid 1 5/4
* two_pidtid f 1 15/4
`
	if got := model(tree); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestEventsWithoutThreads(t *testing.T) {
	tree := arcflowOf(t, "0 > f", "3 > f", "5 < f", "6 < f", "7 > g")
	want := `* 1 1
* f 1 4
* f f 1 2
* g 1 0
`
	if got := model(tree); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	mixed := arcflowOf(t, "0 > f", "1 < f", "2 pidtid one", "3 > f")
	if got := mixed.Root(); got != calltree.RootName {
		t.Errorf("root %q of a trace with calls before the first switch", got)
	}
}

func TestEventErrorsNameTheLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                           `arcflow trace: no records; expected lines such as "0 > main"`,
		"0 > f\n1 < g":               `arcflow trace: line 2: "g" ends inside "f"`,
		"0 pidtid a\n\n1 < g":        `arcflow trace: line 3: "g" ends, but no function is open`,
		"5 > f\n4 < f":               "arcflow trace: line 2: the number is lower than the one before it; it must count up",
		"5.5 > f\n5.25 < f":          "arcflow trace: line 2: the number is lower than the one before it; it must count up",
		"-5 > f":                     `arcflow trace: line 1: "-5" is not a number of up to 18 digits, and 9 after the point`,
		"1e9 > f":                    `arcflow trace: line 1: "1e9" is not a number of up to 18 digits, and 9 after the point`,
		"1. > f":                     `arcflow trace: line 1: "1." is not a number of up to 18 digits, and 9 after the point`,
		"1000000000000000000 > f":    `arcflow trace: line 1: "1000000000000000000" is not a number of up to 18 digits, and 9 after the point`,
		"0 >":                        `arcflow trace: line 1: no name in "0 >"; expected a number, a kind of record and a name`,
		"0 = f":                      `arcflow trace: line 1: unknown kind of record "="; expected >, < or pidtid`,
		"0 > f\n0 " + longName + "x": "arcflow trace: line 2: it is longer than 1 MB, and such lines are not read: shorten its names",
	} {
		_, _, err := arcflowTree(strings.NewReader(in), "m", memory.NewBudget(0))
		if err == nil || err.Error() != want {
			t.Errorf("%.40q: error %v, want %s", in, err, want)
		}
	}
}

var longName = strings.Repeat("x", 1<<20)

func TestEventsAndStacksAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := NewEvents("m", "u")
		var at Stamp
		step := func() Stamp {
			at.Units += rapid.Int64Range(0, 9).Draw(t, "units")
			at.Billis = rapid.Int64Range(at.Billis, 999_999_999).Draw(t, "billis")
			return at
		}
		start := at
		fixture.Check(t, e.Switch(at, "thread"))
		var open []string
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			if f := rapid.SampledFrom([]string{"a", "b", "c", "<"}).Draw(t, "event"); f != "<" {
				open = append(open, f)
				fixture.Check(t, e.Enter(step(), f))
			} else if n := len(open); n > 0 {
				fixture.Check(t, e.Exit(step(), open[n-1]))
				open = open[:n-1]
			}
		}
		tree := fixture.Must(e.Tree())(t)
		fixture.Check(t, tree.Check())
		total := new(big.Rat).Add(big.NewRat(at.Units-start.Units, 1), big.NewRat(at.Billis-start.Billis, 1_000_000_000))
		if got := tree.Main().Cum(0); got.Cmp(total) != 0 {
			t.Fatalf("the tree holds %s of %s", got, total)
		}
		b := calltree.NewBuilder(new(calltree.Symbols), tree.Root(), "m", "u")
		b.AddMetric(calltree.CallsName, calltree.CallsName)
		for n := range int32(tree.Len()) {
			node := b.Stack(tree.Frames(n)[1:]...)
			b.AddRat(0, node, tree.Main().Own(n))
			b.Add(1, node, tree.Metrics()[1].Own(n).Num().Int64(), 1)
		}
		again := fixture.Must(b.Tree())(t)
		if got, want := model(again), model(tree); got != want {
			t.Fatalf("from stacks\n%swant\n%s", got, want)
		}
	})
}

func TestVectorsArcflowModel(t *testing.T) {
	for _, file := range vectors.Files(t, "arcflow*.json") {
		var f struct {
			ProcessThread string `json:"process_thread"`
			Trace         []string
			Total         int64
			Model         []struct {
				Context                  []string
				Occurrences, Consumption int64
			}
			Comment            string
			Xtree, Xprof, Xarc any
		}
		vectors.Decode(t, file, &f)
		process := "0 pidtid " + strings.TrimSuffix(f.ProcessThread, "_pidtid")
		tree := arcflowOf(t, append([]string{process}, f.Trace...)...)
		want := f.ProcessThread + " 1 0\n"
		for _, m := range f.Model {
			want += strings.Join(append([]string{f.ProcessThread}, m.Context...), " ")
			want += " " + big.NewRat(m.Occurrences, 1).RatString() + " " + big.NewRat(m.Consumption, 1).RatString() + "\n"
		}
		if len(f.Model) == 0 {
			t.Errorf("%s: no model", file)
		}
		if got := model(tree); got != want {
			t.Errorf("%s: got\n%swant\n%s", file, got, want)
		}
		if got := tree.Main().Denominator; got.Cmp(big.NewRat(f.Total, 1)) != 0 {
			t.Errorf("%s: total %s, want %d", file, got, f.Total)
		}
	}
}

func FuzzReadArcflow(f *testing.F) {
	f.Add("0 pidtid AC_test\n0 > Main\n1 > A\n2.5 < A\n10 < Main\n")
	f.Add("0 > f\n1 pidtid one\n2 > f\n3 pidtid two\n")
	f.Add("1 < f\n")
	f.Add("# nothing\n")
	f.Fuzz(func(t *testing.T, in string) {
		tree, _, err := arcflowTree(strings.NewReader(in), "m", memory.NewBudget(0))
		if err != nil {
			return
		}
		fixture.Check(t, tree.Check())
	})
}
