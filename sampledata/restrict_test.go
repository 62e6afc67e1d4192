package sampledata

import (
	"testing"

	"pgregory.net/rapid"
)

// Runs are divided where stretches begin and end, but no
// goroutine does anything else. Exactly the samples in stretches
// count.
func TestRestrict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecording(t)
		samples, goroutines := int32(r.Samples.Len()), r.Goroutines.Len()
		if samples == 0 || goroutines == 0 {
			return
		}
		type at struct {
			g GoroutineID
			s int32
		}
		inside := map[at]bool{}
		var stretches []Stretch
		for range rapid.IntRange(0, 6).Draw(t, "stretches") {
			s := Stretch{Goroutine: GoroutineID(rapid.IntRange(0, goroutines-1).Draw(t, "goroutine"))}
			s.First = rapid.Int32Range(0, samples-1).Draw(t, "first")
			s.Last = rapid.Int32Range(s.First, samples-1).Draw(t, "last")
			stretches = append(stretches, s)
			for n := s.First; n <= s.Last; n++ {
				inside[at{s.Goroutine, n}] = true
			}
		}
		states := func(r *Recording, each func(run int, a at)) map[at]State {
			all := map[at]State{}
			for i, run := range r.Runs.All() {
				for n := run.First; n <= run.Last; n++ {
					all[at{run.Goroutine, n}] = run.State()
					each(i, at{run.Goroutine, n})
				}
			}
			return all
		}
		only := r.Restrict("some", stretches)
		want := states(r, func(run int, _ at) {
			if !r.Counts(run) {
				t.Errorf("run %d of the whole does not count", run)
			}
		})
		got := states(only, func(run int, a at) {
			if only.Counts(run) != inside[a] {
				t.Errorf("goroutine %d in sample %d counts: %v, want %v", a.g, a.s, only.Counts(run), inside[a])
			}
		})
		if len(got) != len(want) {
			t.Errorf("%d states, want %d", len(got), len(want))
		}
		for a, s := range want {
			if got[a] != s {
				t.Errorf("goroutine %d in sample %d is %+v, want %+v", a.g, a.s, got[a], s)
			}
		}
		last := Run{}
		for i, run := range only.Runs.All() {
			if i > 0 && (run.First < last.First || run.First == last.First && run.Goroutine <= last.Goroutine) {
				t.Errorf("run %d is out of order", i)
			}
			last = run
		}
	})
}
