package sampledata

import (
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
)

// states returns what every goroutine does in a sample.
func states(r *Recording, sample int32) map[GoroutineID]State {
	all := make(map[GoroutineID]State)
	for _, run := range r.Runs.All() {
		if run.First <= sample && sample <= run.Last {
			all[run.Goroutine] = run.State()
		}
	}
	return all
}

// nameAt returns the name of the lock at an address in a sample;
// a name is valid from its first sample on.
func nameAt(r *Recording, address uint64, sample int32) (name string) {
	for _, n := range r.LockNames {
		if n.Address == address && n.First <= sample {
			name = n.Name
		}
	}
	return name
}

// A recording of some samples has exactly these, with everything in them.
func TestPick(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecording(t)
		var kept []int
		keep := make([]bool, r.Samples.Len())
		for i := range keep {
			if keep[i] = rapid.Bool().Draw(t, "keep"); keep[i] {
				kept = append(kept, i)
			}
		}
		got := fixture.Must(r.Pick("some", func(i int) bool { return keep[i] }))(t)
		fixture.Check(t, got.Check())
		if got.Samples.Len() != len(kept) || got.Picked.List != "some" || got.Picked.Of != len(keep) {
			t.Fatalf("%d samples, want %d", got.Samples.Len(), len(kept))
		}
		for k, i := range append(kept, len(keep)) {
			if want := k > 0 && kept[k-1] != i-1; got.Picked.Breaks(k) != want {
				t.Errorf("samples are left out before sample %d of %d: want %v", i, kept, want)
			}
		}
		was, is := r.Weights(), got.Weights()
		for k, i := range kept {
			if a, b := states(r, int32(i)), states(got, int32(k)); !maps.Equal(a, b) {
				t.Errorf("sample %d: %v, want %v", i, b, a)
			}
			if a, b := was.Of(i, i+1), is.Of(k, k+1); a != b || r.Samples.Time(i) != got.Samples.Time(k) {
				t.Errorf("sample %d stands for %d, want %d", i, b, a)
			}
			for m := range r.Series {
				if a, b := values(&r.Series[m], len(keep))[i], values(&got.Series[m], len(kept))[k]; a != b {
					t.Errorf("sample %d: %s is %v, want %v", i, r.Series[m].Name, b, a)
				}
			}
			for _, n := range r.LockNames {
				if a, b := nameAt(r, n.Address, int32(i)), nameAt(got, n.Address, int32(k)); a != b {
					t.Errorf("sample %d: lock %x is %q, want %q", i, n.Address, b, a)
				}
			}
		}
	})
}
