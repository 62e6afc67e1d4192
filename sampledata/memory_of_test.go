package sampledata_test

import (
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
)

// TestMemoryOfRuns counts what runs take, with the states that
// they share: in a server whose goroutines wait for locks, and
// if no run is short, which is the worst case.
func TestMemoryOfRuns(t *testing.T) {
	server := synthetic.Recording(4000, 2000, 0.05).Runs
	if got := bytesEach(&server, server.Len()); got > 20 {
		t.Errorf("%.1f bytes a run, want at most 20", got)
	}
	long := longRuns(t)
	if got := bytesEach(&long, long.Len()); got > 20.5 {
		t.Errorf("%.1f bytes a long run, want 12 and 8", got)
	}
}

// longRuns returns the runs of goroutines that do the same for
// longer than a run is in most recordings.
func longRuns(t *testing.T) sampledata.Runs {
	t.Helper()
	const goroutines, samples = 100_000, 1 << 17
	b := sampledata.NewBuilder(synthetic.Header())
	var changes []sampledata.Change
	for i := range goroutines {
		g := b.Goroutine(sampledata.Goroutine{ID: int64(i), Start: -1})
		changes = append(changes, sampledata.Change{Goroutine: g, State: sampledata.State{Stack: sampledata.NoStack}})
	}
	for i := range samples {
		fixture.Check(t, b.Sample(sampledata.Sample{Time: time.Duration(i)}, changes))
		changes = nil
	}
	r := b.Recording()
	if r.Runs.Len() != goroutines {
		t.Fatalf("%d runs, want %d", r.Runs.Len(), goroutines)
	}
	return r.Runs
}

// TestMemoryOfGoroutines counts what goroutines take that were created at a few places.
func TestMemoryOfGoroutines(t *testing.T) {
	goroutines := synthetic.Recording(4000, 2000, 0.05).Goroutines
	if got := bytesEach(&goroutines, goroutines.Len()); got > 36 {
		t.Errorf("%.1f bytes a goroutine, want 32 and the rest of a chunk", got)
	}
}

// TestMemoryOfSamples counts what samples take that say nothing but their times.
func TestMemoryOfSamples(t *testing.T) {
	const n = 1 << 18
	b := sampledata.NewBuilder(synthetic.Header())
	for i := range n {
		fixture.Check(t, b.Sample(sampledata.Sample{Time: time.Duration(i)}, nil))
	}
	samples := b.Recording().Samples
	if got := bytesEach(&samples, n); got > 20.1 {
		t.Errorf("%.1f bytes a sample, want 20", got)
	}
}

// bytesEach returns how much smaller the heap becomes without a
// table, for each of its n entries.
func bytesEach[T any](table *T, n int) float64 {
	with := heap()
	var none T
	*table = none
	return (with - heap()) / float64(n)
}
