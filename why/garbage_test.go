package why

import (
	"testing"

	"github.com/cpprof/cpprof/internal/fixture"
	"github.com/cpprof/cpprof/sampledata"
)

// A heap that has more after each collection grows. One that has more
// only before it is collected does not.
func TestHeapGrows(t *testing.T) {
	for name, c := range map[string]struct {
		kept, begin float64 // MiB that stay of each collection, and at first
		until       int64   // so many collections
		grows       bool
	}{
		"it keeps some":          {20, 10, 10, true},
		"it keeps nothing":       {0, 10, 10, false},
		"it keeps hardly any":    {1, 100, 10, false},
		"it keeps some at first": {60, 10, 3, false},
		"it is never collected":  {20, 10, 0, false},
	} {
		s := newScene()
		all := s.spawn(2, "main.serve")
		live := s.Monitor(sampledata.Monitor{Name: "heap.live", Layer: sampledata.Runtime, Kind: sampledata.Level, Unit: "bytes"})
		cycles := s.Monitor(sampledata.Monitor{Name: "gc.cycles", Layer: sampledata.Runtime, Kind: sampledata.Counter})
		s.samples(t, 200, func(i int) {
			collected, since := int64(i/20), float64(i%20)
			heap := c.begin + c.kept*float64(min(collected, c.until)) + 10*since
			if c.until == 0 {
				heap, collected = c.begin+float64(i), 0
			}
			s.Measure(live, sampledata.Number(int64(heap*(1<<20))))
			s.Measure(cycles, sampledata.Count(uint64(collected)))
			s.all(all, s.at(runs, "main.serve", "main.handle"))
		})
		if g := s.find(t).HeapGrows; (g != nil) != c.grows {
			t.Errorf("%s: %+v", name, g)
		}
		r := s.Recording()
		if a := fixture.Must(Compare(r, r, configured()))(t); a.HeapGrows != nil {
			t.Errorf("%s: it grew as much before, and does so now: %+v", name, a.HeapGrows)
		}
	}
}
