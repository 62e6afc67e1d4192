package locks

import (
	"path/filepath"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views"
)

// BenchmarkLocks analyses the locks of a recording of 10,000
// samples of 1,000 goroutines. A fifth of the goroutines wait
// for a lock, and a twentieth change from sample to sample. For
// comparison, it also loads the recording and makes its Thread
// View.
func BenchmarkLocks(b *testing.B) {
	r := synthetic.Recording(10_000, 1_000, 0.05)
	dir := filepath.Join(b.TempDir(), "r.cpprof")
	fixture.Check(b, r.Write(dir))
	for _, bench := range []struct {
		name string
		do   func() error
	}{
		{"load", func() error { _, err := sampledata.Open(dir); return err }},
		{"view", func() error { _, err := views.Thread(r, "go:main.worker0", views.Options{}); return err }},
		{"summarise", func() error { _, err := Summarise(r, views.Options{}); return err }},
		{"analyse", func() error { _, err := Analyse(r, views.Options{}, ByInstance); return err }},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fixture.Check(b, bench.do())
			}
		})
	}
}
