package views

import (
	"math"
	"testing"
	"time"

	"github.com/cpprof/cpprof/internal/synthetic"
	"github.com/cpprof/cpprof/sampledata"
)

// Segments and shares have all time of the runs, whatever the columns are.
func TestTracks(t *testing.T) {
	r := synthetic.Recording(300, 60, 0.2)
	tracks := NewTracks(r, Options{})
	spans := [][2]time.Duration{{0, time.Hour}, {time.Second, 1700 * time.Millisecond}, {5, 6}}
	for _, span := range spans {
		from, to := span[0], span[1]
		want := make(map[sampledata.GoroutineID][NumTypedTimes]time.Duration)
		for _, run := range r.Runs.All() {
			a, z := max(from, r.Begins(int(run.First))), min(to, r.Begins(int(run.Last)+1))
			if sums := want[run.Goroutine]; a < z {
				sums[DoingOf(run).Time()] += z - a
				want[run.Goroutine] = sums
			}
		}
		goroutines := 0
		for i := range tracks.Classes {
			c := &tracks.Classes[i]
			goroutines += len(c.Goroutines)
			var ofClass [NumTypedTimes]time.Duration
			for _, g := range c.Goroutines {
				var all, exact [NumTypedTimes]time.Duration
				for _, s := range tracks.Segments(g, from, to, math.MaxInt32) {
					exact[s.Typed] += s.To - s.From
				}
				if exact != want[g] {
					t.Fatalf("goroutine %d from %v to %v: %v, want %v", g, from, to, exact, want[g])
				}
				list := tracks.Segments(g, from, to, 50)
				total, wanted, last := time.Duration(0), time.Duration(0), from
				for _, s := range list {
					if s.From < last || s.To <= s.From || s.To > to {
						t.Fatalf("segment %+v after %v", s, last)
					}
					last = s.To
					total += s.To - s.From
				}
				for typed := range all {
					wanted += want[g][typed]
					ofClass[typed] += want[g][typed]
				}
				if total != wanted || len(list) > 150 {
					t.Fatalf("%d segments have %v, want %v", len(list), total, wanted)
				}
			}
			var sums [NumTypedTimes]float64
			for _, column := range tracks.Shares(c, from, to, 37) {
				for typed, share := range column {
					if share < -1e-9 || share > 1+1e-9 {
						t.Fatalf("%s: a share is %v", c.Name, share)
					}
					sums[typed] += share
				}
			}
			for typed, sum := range sums {
				got := sum * float64(max((to-from)/37, 1)) * float64(len(c.Goroutines))
				if to-from > 37 && math.Abs(got-float64(ofClass[typed])) > 1e6 {
					t.Errorf("%s, %v: the shares sum up to %v ns, want %v", c.Name, TypedTime(typed), got, ofClass[typed])
				}
			}
		}
		if goroutines != r.Goroutines.Len() {
			t.Errorf("%d goroutines in classes, want %d", goroutines, r.Goroutines.Len())
		}
	}
	for g := range r.Goroutines.Len() {
		at := r.Begins(int(r.Runs.At(int(tracks.runs.Of(sampledata.GoroutineID(g))[0])).First))
		s, ok := tracks.At(sampledata.GoroutineID(g), at)
		if !ok || s.From != at || s.To <= at {
			t.Errorf("goroutine %d at %v is in %+v", g, at, s)
		}
	}
}
