package report

import (
	"io"
	"sync"
	"testing"

	"github.com/cpprof/cpprof/internal/bench/bigtree"
	"github.com/cpprof/cpprof/views/calltree"
)

var largeTree = sync.OnceValue(func() *calltree.Tree { return bigtree.New(1_000_000, 5000) })

func benchmarkReport(b *testing.B, write func(io.Writer, *calltree.Tree, XOptions)) {
	t := largeTree()
	b.ReportAllocs()
	for b.Loop() {
		write(io.Discard, t, XOptions{})
	}
}

func BenchmarkXTree(b *testing.B) { benchmarkReport(b, WriteXTree) }
func BenchmarkXProf(b *testing.B) { benchmarkReport(b, WriteXProf) }
func BenchmarkXArc(b *testing.B)  { benchmarkReport(b, WriteXArc) }
