package hotspots

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views/calltree"
)

func TestMain(m *testing.M) { fixture.Main(m) }

// samples makes a tree of samples from lines such as "12 main f
// :RUN", below the root.
func samples(t testing.TB, root string, lines ...string) *calltree.Tree {
	t.Helper()
	b := calltree.NewBuilder(new(calltree.Symbols), root, "time", "samples")
	for _, line := range lines {
		hits, ok := new(big.Rat).SetString(strings.Fields(line)[0])
		if !ok {
			t.Fatalf("no hits in %q", line)
		}
		b.AddRat(0, b.Stack(strings.Fields(line)[1:]...), hits)
	}
	return fixture.Must(b.Tree())(t)
}

func foundPaths(f *Found) []string {
	var out []string
	for _, b := range f.Bottlenecks {
		out = append(out, strings.Join(b.Summary.Path(), " "))
	}
	return out
}

func TestFindThePlanted(t *testing.T) {
	tree := samples(t, "go:main.worker",
		"40 worker handle check copy :RUN", "20 worker handle check hash :RUN",
		"5 worker log copy :RUN", "2 worker log :RUN",
		"25 worker handle lock :MONITOR go:main.flusher flush write :RUN", "1 worker idle :WAIT :sleep",
		"4 worker other :RUN", "3 worker another :RUN")
	f := Find(NewSingle(tree), FindOptions{Coverage: big.NewRat(3, 4)})
	got := strings.Join(foundPaths(f), "\n")
	want := "copy :RUN\n" +
		"go:main.worker worker handle lock :MONITOR go:main.flusher flush write :RUN\n" +
		"go:main.worker worker handle check hash :RUN"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if f.Coverage.Cmp(big.NewRat(90, 100)) != 0 {
		t.Errorf("coverage %s", f.Coverage)
	}
	if f.MeanLength.Cmp(big.NewRat(2+9+6, 3)) != 0 {
		t.Errorf("mean length %s", f.MeanLength)
	}
	copies := f.Bottlenecks[0]
	if copies.Own.Cmp(big.NewRat(45, 100)) != 0 || copies.Additional.Cmp(big.NewRat(45, 100)) != 0 {
		t.Errorf("own share %s, additional %s", copies.Own, copies.Additional)
	}
}

func TestFindZoomsWithWhatIsLeft(t *testing.T) {
	// The copies below encode are covered with encode; the rest
	// of copy is below log.
	tree := samples(t, calltree.RootName, "50 main encode", "5 main encode copy", "15 main log copy")
	f := Find(NewSingle(tree), FindOptions{Coverage: big.NewRat(1, 1)})
	got := strings.Join(foundPaths(f), "\n")
	if want := "* main encode\n* main log copy"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFindExplainsARegression(t *testing.T) {
	before := samples(t, "go:worker", "50 serve read :WAIT :IO-wait", "30 serve work :RUN", "15 serve store copy :RUN",
		"5 serve store lock :MONITOR go:store copy :RUN")
	after := samples(t, "go:worker", "80 serve read :WAIT :IO-wait", "58 serve work :RUN", "62 serve store copy :RUN",
		"30 serve store lock :MONITOR go:store copy :RUN", "0 serve unused :RUN")
	p := NewComparison(after, before, true)
	f := Find(p, FindOptions{})
	got := strings.Join(foundPaths(f), "\n")
	if want := "copy :RUN"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// 92 of 230 against 20 of 100.
	if own := f.Bottlenecks[0].Own; own.Cmp(big.NewRat(1, 5)) != 0 {
		t.Errorf("own share %s", own)
	}
	if len(f.Above(big.NewRat(5, 100))) != 1 || len(f.Above(big.NewRat(1, 5))) != 0 {
		t.Errorf("wrong bottlenecks above a share")
	}
	if back := Find(NewComparison(before, before, true), FindOptions{}); len(back.Bottlenecks) != 0 {
		t.Errorf("found %q although nothing got slower", foundPaths(back))
	}
}

func TestFindGoesUpThroughDeepRecursion(t *testing.T) {
	p := NewSingle(recursionTree(t, 2000))
	f := Find(p, FindOptions{})
	if len(f.Bottlenecks) != 1 {
		t.Fatalf("%d bottlenecks, want 1", len(f.Bottlenecks))
	}
	b := f.Bottlenecks[0]
	if path := b.Summary.Path(); len(path) != 2002 || path[0] != calltree.RootName || b.Own.Cmp(big.NewRat(1, 1)) != 0 {
		t.Errorf("%d calls from %s that cost %v, want all 2002 frames", len(path), path[0], b.Own)
	}
}

func TestFindStops(t *testing.T) {
	tree := samples(t, calltree.RootName, "50 a", "30 b", "15 c", "5 d")
	for _, c := range []struct {
		options FindOptions
		want    string
	}{
		{FindOptions{}, "* a,* b"},
		{FindOptions{Coverage: big.NewRat(1, 1)}, "* a,* b,* c,* d"},
		{FindOptions{Coverage: big.NewRat(1, 1), Max: 3}, "* a,* b,* c"},
	} {
		if got := strings.Join(foundPaths(Find(NewSingle(tree), c.options)), ","); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.options, got, c.want)
		}
	}
	empty := samples(t, calltree.RootName)
	if f := Find(NewSingle(empty), FindOptions{}); len(f.Bottlenecks) != 0 || f.MeanLength.Sign() != 0 {
		t.Errorf("found bottlenecks in an empty profile")
	}
}

func TestFindCoversTheTotalCumOfWhatItFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := drawTree(t, "tree", 0)
		p := NewSingle(tree)
		goal := big.NewRat(rapid.Int64Range(0, 100).Draw(t, "goal"), 100)
		f := Find(p, FindOptions{Coverage: goal})
		var list []*Summary
		sum := new(big.Rat)
		for _, b := range f.Bottlenecks {
			list = append(list, b.Summary)
			sum.Add(sum, b.Additional)
		}
		total := p.Share(totalCum(p, list))
		if sum.Cmp(total) != 0 {
			t.Fatalf("additional shares sum to %s, total cum is %s", sum, total)
		}
		if tree.Main().Cum(0).Sign() == 0 {
			return
		}
		whole := tree.Main().Cost(tree.Main().Cum(0))
		if covered := new(big.Rat).Quo(total, whole); f.Coverage.Cmp(covered) != 0 || covered.Cmp(goal) < 0 {
			t.Fatalf("coverage %s, total cum covers %s, goal %s", f.Coverage, covered, goal)
		}
	})
}

func TestResidualIsWhatTheDefinitionsLeave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTree(t, "a", 0), drawTree(t, "b", 0)
		p := NewComparison(a, b, false)
		r := newResidual(p)
		for range rapid.IntRange(0, 4).Draw(t, "labels") {
			r.cover(r.profile.Summary(drawPath(t, "label")...))
			for i := range r.sides {
				checkResidual(t, &r.sides[i], len(r.starts.All))
			}
		}
	})
}

// checkResidual computes the residual's values again from the own costs.
func checkResidual(t *rapid.T, s *residualSide, starts int) {
	for k, p := range s.planes {
		cum := make([]int64, len(p.Own))
		for n := len(cum) - 1; n >= 0; n-- {
			cum[n] += p.Own[n]
			if n > 0 {
				cum[s.parent[n]] += cum[n]
			}
		}
		base, total := make([]int64, starts), make([]int64, starts)
		for n, id := range s.start {
			if s.covered[n] && p.Cum[n] != 0 || cum[n] != p.Cum[n] {
				t.Fatalf("plane %d: node %d has cum %d, want %d", k, n, p.Cum[n], cum[n])
			}
			base[id] += p.Own[n]
			if s.outermost[n] {
				total[id] += cum[n]
			}
		}
		for id := range base {
			if base[id] != s.base[k][id] || total[id] != s.cum[k][id] {
				t.Fatalf("plane %d: start %d has base %d and cum %d, want %d and %d", k, id,
					s.base[k][id], s.cum[k][id], base[id], total[id])
			}
		}
	}
}

func TestFindEndsOnAnyComparison(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := NewComparison(drawTree(t, "a", 0), drawTree(t, "b", 0), rapid.Bool().Draw(t, "per denominator"))
		one := big.NewRat(1, 1)
		f := Find(p, FindOptions{Coverage: one})
		if r := newResidual(p); r.left().Sign() > 0 && f.Coverage.Cmp(one) != 0 {
			t.Fatalf("coverage %s", f.Coverage)
		}
	})
}

// TestFindEndsAtNoise compares profiles of which one call
// sequence grew surely, and another one may have by chance.
func TestFindEndsAtNoise(t *testing.T) {
	after, before := sampled(t, 1, "*", "500 a b", "12 c", "488 d"), sampled(t, 1, "*", "100 a b", "10 c", "890 d")
	f := Find(NewComparison(after, before, true), FindOptions{Coverage: big.NewRat(1, 1)})
	if len(f.Bottlenecks) != 1 || f.Bottlenecks[0].Summary.Path()[0] != "*" && f.Bottlenecks[0].Summary.Path()[0] != "a" || !f.Noise {
		t.Errorf("found %d, noise %v", len(f.Bottlenecks), f.Noise)
	}
	if f := Find(NewSingle(after), FindOptions{}); f.Noise {
		t.Error("a single profile ends at noise")
	}
}
