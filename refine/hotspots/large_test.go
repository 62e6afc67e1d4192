package hotspots

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views/calltree"
)

// nested returns a tree of so many functions, each of which
// calls the next one and costs as much.
func nested(t testing.TB, calls int) *calltree.Tree {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "s")
	at := int32(0)
	for i := range calls {
		at = b.Child(at, b.Symbols().Intern(fmt.Sprint("f", i)))
		b.Add(0, at, 1, 1)
	}
	return built(t, b)
}

// leaves returns a tree of a function that calls so many others,
// each of which costs as much, and works below another frame.
func leaves(t testing.TB, calls int) *calltree.Tree {
	b := calltree.NewBuilder(new(calltree.Symbols), calltree.RootName, "time", "s")
	for i := range calls {
		b.Add(0, b.Stack("main", fmt.Sprint("f", i), ":RUN"), 1, 1)
	}
	return built(t, b)
}

func built(t testing.TB, b *calltree.Builder) *calltree.Tree {
	return fixture.Must(b.Tree())(t)
}

// What find does grows like the tree, not like its square. If it
// did, these two searches would take minutes.
func TestFindInLargeTreesLong(t *testing.T) {
	fixture.LongInTurn(t, 2)
	f := Find(NewSingle(nested(t, 60_000)), FindOptions{})
	if len(f.Bottlenecks) != 1 || len(f.Bottlenecks[0].Summary.Path()) != 60_001 {
		t.Errorf("%d call sequences, the first of %d calls", len(f.Bottlenecks), len(f.Bottlenecks[0].Summary.Path()))
	}
	f = Find(NewSingle(leaves(t, 100_000)), FindOptions{})
	if len(f.Bottlenecks) != 80_000 || f.Coverage.RatString() != "4/5" {
		t.Errorf("%d call sequences cover %s", len(f.Bottlenecks), f.Coverage.RatString())
	}
}

func TestMemoryOfFindGrowsLikeTheTree(t *testing.T) {
	for _, make := range []func(testing.TB, int) *calltree.Tree{nested, leaves} {
		allocated := func(calls int) uint64 {
			p := NewSingle(make(t, calls))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			Find(p, FindOptions{})
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if small, large := allocated(2000), allocated(16_000); large > 16*small {
			t.Errorf("%d bytes for 2,000 calls, and %d for 8 times as many", small, large)
		}
	}
}

func BenchmarkFindNested(b *testing.B) { benchmarkFind(b, nested(b, 60_000)) }
func BenchmarkFindLeaves(b *testing.B) { benchmarkFind(b, leaves(b, 100_000)) }

func benchmarkFind(b *testing.B, t *calltree.Tree) {
	for b.Loop() {
		Find(NewSingle(t), FindOptions{})
	}
}
