package sampledata

import (
	"runtime"
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
)

// all returns the elements of a list.
func (l *chunked[T]) all() []T { return slices.Concat(l.chunks...) }

// A clipped list and a copy stay as they are while the list
// grows over the ends of chunks.
func TestChunks(t *testing.T) {
	var l chunked[int]
	var want []int
	clipped, copied := map[int]chunked[int]{}, map[int]chunked[int]{}
	for i := range 3*chunkLen + 2 {
		if l.len() != i {
			t.Fatalf("%d elements, want %d", l.len(), i)
		}
		if i%1000 == 0 || i%chunkLen < 2 {
			clipped[i], copied[i] = l.clip(), l.clone()
		}
		l.add(i)
		want = append(want, i)
		if *l.last() != i || *l.at(i) != i || *l.at(i / 2) != i/2 {
			t.Fatalf("element %d: %d, %d; the last one is %d", i, *l.at(i), *l.at(i / 2), *l.last())
		}
	}
	for n := range clipped {
		c, d := clipped[n], copied[n]
		c.add(-1)
		d.add(-2)
		if n > 0 {
			*d.at(n / 2) = -3
		}
		if !slices.Equal(c.all(), append(want[:n:n], -1)) {
			t.Errorf("the list clipped at %d has changed", n)
		}
	}
	if !slices.Equal(l.all(), want) {
		t.Error("what was done to others has changed the list")
	}
}

// Runs and samples are not moved while they become more: what is
// allocated for them in total is what they take.
func TestGrowingLeavesNoGarbage(t *testing.T) {
	const goroutines, samples = 100, 5000
	b := NewBuilder(testHeader())
	changes := make([]Change, goroutines)
	for i := range changes {
		changes[i].Goroutine = b.Goroutine(Goroutine{ID: int64(i), Start: -1})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range samples {
		for k := range changes {
			changes[k].State = State{Stack: NoStack, Run: RunState(i%2) + Running}
		}
		fixture.Check(t, b.Sample(Sample{}, changes))
	}
	runtime.ReadMemStats(&after)
	const most = 20 * (goroutines*samples + samples)
	if got := after.TotalAlloc - before.TotalAlloc; got > most {
		t.Errorf("%d bytes allocated for %d runs and %d samples, want at most 20 for each", got, goroutines*samples, samples)
	}
}
