package refine

import (
	"sync"
	"testing"

	"github.com/cpprof/cpprof/callpath"
	"github.com/cpprof/cpprof/internal/bench/bigtree"
	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/views/calltree"
)

var benchTree = sync.OnceValues(func() (*calltree.Tree, *calltree.Membership) {
	t := bigtree.New(1_000_000, 5_000)
	return t, bigtree.Membership(t)
})

// BenchmarkFloor reads what every walk must read: compare the
// other benchmarks with it.
func BenchmarkFloor(b *testing.B) {
	t, _ := benchTree()
	parents, fns, cum := t.Parents(), t.Funcs(), t.Main().Planes()[0].Cum
	b.ReportAllocs()
	for b.Loop() {
		sums := make([]int64, t.Symbols().Len())
		for n := 1; n < len(fns); n++ {
			sums[fns[n]] += cum[n] - cum[parents[n]]
		}
	}
}

var benchPaths = []string{
	"*", "pkg7.f7", "* ..pkg7.f7", "pkg7.f7 ..pkg8.f8 ..pkg9.f9", "@pkg1 ..@pkg2", "@pkg1 pkg1.f1", "* ..@pkg1 ..@pkg2 ..@pkg3 ..@pkg4",
}

func BenchmarkCost(b *testing.B) {
	benchmark(b, func(t *calltree.Tree, m *calltree.Membership, p callpath.Path) { callpath.Total(t, m, p) })
}

func BenchmarkDown(b *testing.B) {
	benchmark(b, func(t *calltree.Tree, m *calltree.Membership, p callpath.Path) { Down(t, m, p, callpath.Immediate) })
}

func BenchmarkExtended(b *testing.B) {
	benchmark(b, func(t *calltree.Tree, m *calltree.Membership, p callpath.Path) { Down(t, m, p, callpath.Extended) })
}

func benchmark(b *testing.B, run func(*calltree.Tree, *calltree.Membership, callpath.Path)) {
	for _, s := range benchPaths {
		b.Run(s, func(b *testing.B) {
			t, m := benchTree()
			p := parse(b, s)
			b.ReportAllocs()
			for b.Loop() {
				run(t, m, p)
			}
		})
	}
}

func BenchmarkUp(b *testing.B) {
	for _, s := range []string{
		"* | pkg7.f7", "* | @pkg1", "* | pkg7.f7 ..pkg8.f8", "* | @pkg1 ..@pkg2", "* ..@pkg3 | @pkg1 ..@pkg2 ..@pkg4", "* | @pkg1 ..pkg7.f7",
	} {
		b.Run(s, func(b *testing.B) {
			t, m := benchTree()
			p1, p2, err := callpath.ParseSplit(s)
			fixture.Check(b, err)
			b.ReportAllocs()
			for b.Loop() {
				Up(t, m, p1, p2)
			}
		})
	}
}

func BenchmarkPrune(b *testing.B) {
	for _, s := range []string{"not pkg7.f7", "@pkg1 ..@pkg2 and not (pkg7.f7 or pkg8.f8)"} {
		b.Run(s, func(b *testing.B) {
			t, m := benchTree()
			e := fixture.Must(callpath.ParseExpr(s))(b)
			b.ReportAllocs()
			for b.Loop() {
				Prune(t, m, e)
			}
		})
	}
}
