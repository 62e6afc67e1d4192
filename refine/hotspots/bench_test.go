package hotspots

import (
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/cpprof/cpprof/internal/bench/bigtree"
	"github.com/cpprof/cpprof/views/calltree"
)

var largeTree = sync.OnceValue(func() *calltree.Tree { return bigtree.New(1_000_000, 5000) })

// typedTree is a tree of a million nodes like those of views:
// all cost is in typed time below the functions.
var typedTree = sync.OnceValue(func() *calltree.Tree {
	t := bigtree.New(650_000, 5000)
	b := calltree.NewBuilder(t.Symbols(), calltree.RootName, "time", "samples")
	run := t.Symbols().Intern(":RUN")
	at := make([]int32, t.Len())
	for n := 1; n < t.Len(); n++ {
		at[n] = b.Child(at[t.Parents()[n]], t.Funcs()[n])
		if own := t.Main().Planes()[0].Own[n]; own > 0 {
			b.Add(0, b.Child(at[n], run), own, 1)
		}
	}
	typed, err := b.Tree()
	if err != nil {
		panic(err) // only for more nodes than an int32 counts
	}
	return typed
})

func BenchmarkInitialSummaries(b *testing.B) {
	t := largeTree()
	for b.Loop() {
		for _, s := range NewSingle(t).Initial() {
			s.Base()
			s.Cum()
		}
	}
}

// benchmarkSelect does the work of the command select: all
// extensions with their cum and base, and the overlap with ten
// labelled summaries.
func benchmarkSelect(b *testing.B, p *Trees, path ...string) {
	list := p.Initial()
	SortByCum(list)
	var labels [][]*Summary
	for i := range 10 {
		labels = append(labels, list[i+1:i+2])
	}
	for b.Loop() {
		s := p.Summary(path...)
		for _, e := range append(s.Tops(), s.Bottoms()...) {
			e.Base()
			e.Cum()
		}
		p.Overlaps(s, labels...)
	}
}

func BenchmarkSelect(b *testing.B) {
	p := NewSingle(largeTree())
	list := p.Initial()
	SortByCum(list)
	benchmarkSelect(b, p, list[1].Path()...)
}

func BenchmarkSelectRoot(b *testing.B) { benchmarkSelect(b, NewSingle(largeTree()), calltree.RootName) }

func BenchmarkSelectTyped(b *testing.B) { benchmarkSelect(b, NewSingle(typedTree()), ":RUN") }

func BenchmarkFindTyped(b *testing.B) {
	p := NewSingle(typedTree())
	b.ReportMetric(float64(typedTree().Len()), "nodes")
	for b.Loop() {
		f := Find(p, FindOptions{})
		b.ReportMetric(float64(len(f.Bottlenecks)), "bottlenecks")
	}
}

func BenchmarkFindComparison(b *testing.B) {
	p := NewComparison(typedTree(), largeTree(), true)
	for b.Loop() {
		f := Find(p, FindOptions{Max: 20})
		b.ReportMetric(float64(len(f.Bottlenecks)), "bottlenecks")
	}
}

func BenchmarkZoom(b *testing.B) {
	p := NewSingle(largeTree())
	list := p.Initial()
	sortBy(list, (*Summary).Own)
	for b.Loop() {
		for _, s := range list[:10] {
			Zoom(s, big.NewRat(1, 2), (*Summary).Tops)
			Zoom(s, big.NewRat(1, 2), (*Summary).Bottoms)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	p := NewSingle(largeTree())
	for b.Loop() {
		f := Find(p, FindOptions{})
		b.ReportMetric(float64(len(f.Bottlenecks)), "bottlenecks")
	}
}

func BenchmarkSuggestRecursive(b *testing.B) {
	p := NewSingle(largeTree())
	for b.Loop() {
		p.Cycles()
	}
}

// recursionTree is one stack of two functions that call each
// other; all cost is at its end. Zooming goes up through all of
// it, and each call sequence on the way occurs at half of the
// frames.
func recursionTree(b testing.TB, depth int) *calltree.Tree {
	frames := []string{"main"}
	for i := range depth {
		frames = append(frames, []string{"parse", "expression"}[i%2])
	}
	return samples(b, calltree.RootName, "10 "+strings.Join(frames, " "))
}

func BenchmarkFindRecursion(b *testing.B) {
	p := NewSingle(recursionTree(b, 2000))
	for b.Loop() {
		Find(p, FindOptions{})
	}
}
