package syncflow

import (
	"os"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// BenchmarkFlow measures the data flow of one function, forward
// and backward, over functions of this test's own binary that
// may have to do with locks.
func BenchmarkFlow(b *testing.B) {
	path := fixture.Must(os.Executable())(b)
	p := programOf(b, path)
	fresh := func() *Analyzer { return analyzer(b, p) }
	a := fresh()
	var entries []uint64
	for i := range p.Table.Len() {
		if f, ok := p.Table.At(i); ok && a.relevant(a.callee(f.Entry), 0) {
			entries = append(entries, f.Entry)
		}
	}
	if len(entries) < 100 {
		b.Fatalf("only %d functions", len(entries))
	}
	spent := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%len(entries) == 0 {
			spent += a.Spent()
			a = fresh()
		}
		f, _ := p.Table.Func(entries[i%len(entries)])
		if w := a.newFlow(f, 0); w != nil {
			w.backwardFlow()
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(spent+a.Spent()), "ns/unit")
}
