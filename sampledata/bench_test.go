package sampledata_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
)

// The recording that issue 2 names: 10,000 samples × 1,000
// goroutines of which 1 % change per sample.
const (
	benchSamples    = 10_000
	benchGoroutines = 1_000
	benchShare      = 0.01
	benchMonitors   = 60 // in the benchmarks with monitors
)

func writeBench(b testing.TB, name string, monitors int) {
	w := fixture.Must(sampledata.Replace(name, synthetic.Header()))(b)
	fixture.Check(b, synthetic.Record(withMonitors(w, monitors), benchSamples, benchGoroutines, benchShare))
	fixture.Check(b, w.Close())
}

func folderSize(b testing.TB, name string) int64 {
	entries := fixture.Must(os.ReadDir(name))(b)
	size := int64(0)
	for _, e := range entries {
		info := fixture.Must(e.Info())(b)
		size += info.Size()
	}
	return size
}

func BenchmarkWrite(b *testing.B)       { benchmarkWrite(b, 0) }
func BenchmarkWriteSeries(b *testing.B) { benchmarkWrite(b, benchMonitors) }
func BenchmarkOpen(b *testing.B)        { benchmarkOpen(b, 0) }
func BenchmarkOpenSeries(b *testing.B)  { benchmarkOpen(b, benchMonitors) }

func benchmarkWrite(b *testing.B, monitors int) {
	name := filepath.Join(b.TempDir(), "r.cpprof")
	for b.Loop() {
		writeBench(b, name, monitors)
	}
	b.ReportMetric(float64(folderSize(b, name))/1e6, "MB/recording")
}

func benchmarkOpen(b *testing.B, monitors int) {
	name := filepath.Join(b.TempDir(), "r.cpprof")
	writeBench(b, name, monitors)
	b.ReportAllocs()
	var r *sampledata.Recording
	for b.Loop() {
		r = fixture.Must(sampledata.Open(name))(b)
	}
	b.ReportMetric(float64(r.Runs.Len()), "runs")
	b.ReportMetric(heap()/1e6, "MB/heap")
	runtime.KeepAlive(r)
}

// BenchmarkOpenRatio compares how long it takes to open a
// recording with monitors and one without, in turn.
func BenchmarkOpenRatio(b *testing.B) {
	var names [2]string
	for i := range names {
		names[i] = filepath.Join(b.TempDir(), "r.cpprof")
		writeBench(b, names[i], i*benchMonitors)
	}
	var took [2][]time.Duration
	for b.Loop() {
		for i, name := range names {
			runtime.GC()
			from := time.Now()
			fixture.Must(sampledata.Open(name))(b)
			took[i] = append(took[i], time.Since(from))
		}
	}
	median := func(of []time.Duration) float64 { slices.Sort(of); return float64(of[len(of)/2]) }
	b.ReportMetric(median(took[1])/median(took[0]), "with/without")
}

// heap returns the size of what is in use on the heap.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func TestSyntheticRecordingIsGood(t *testing.T) {
	b := sampledata.NewBuilder(synthetic.Header())
	fixture.Check(t, synthetic.Record(withMonitors(b, benchMonitors), 300, 200, 0.05))
	r := b.Recording()
	fixture.Check(t, r.Check())
	if r.Samples.Len() != 300 || r.Runs.Len() < 200+299*8 || len(r.Series) != benchMonitors || r.Series[0].Changes() < 100 || r.End == nil {
		t.Errorf("%d samples, %d runs, end %v", r.Samples.Len(), r.Runs.Len(), r.End)
	}
}
