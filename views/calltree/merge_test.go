package calltree

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/cpprof/cpprof/internal/fixture"
)

// A merged tree has each tree's stacks and hits, and their sums
// in its first metric.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stacks := [2][]weighed{drawStacks(t), drawStacks(t)}
		var trees [2]*Tree
		for i := range trees {
			b := NewBuilder(new(Symbols), RootName, "time", "samples")
			b.SetDenominator(0, big.NewRat(int64(i)+3, 1))
			for _, s := range stacks[i] {
				b.AddRat(0, b.Stack(s.frames...), s.hits)
			}
			trees[i] = fixture.Must(b.Tree())(t)
		}
		merged := fixture.Must(Merge(trees[0], trees[1]))(t)
		fixture.Check(t, merged.Check())
		for metric, parts := range [][]weighed{append(append([]weighed{}, stacks[0]...), stacks[1]...), stacks[0], stacks[1]} {
			only := merged.Only(metric)
			fixture.Check(t, only.Check())
			for n := range int32(only.Len()) {
				want := new(big.Rat)
				for _, s := range parts {
					if frames := only.Frames(n)[1:]; hasPrefix(s.frames, frames) {
						want.Add(want, s.hits)
					}
				}
				if got := only.Main().Cum(n); got.Cmp(want) != 0 {
					t.Fatalf("metric %d: %v has %v hits, want %v", metric, only.Frames(n), got, want)
				}
			}
		}
		for metric, want := range []int64{7, 3, 4} {
			if got := merged.Only(metric).Main().Denominator; got.Cmp(big.NewRat(want, 1)) != 0 {
				t.Fatalf("denominator of metric %d is %v, want %d", metric, got, want)
			}
		}
	})
}

func TestMergeOfDifferentViews(t *testing.T) {
	of := func(root, unit string) *Tree {
		return fixture.Must(NewBuilder(new(Symbols), root, "time", unit).Tree())(t)
	}
	for _, other := range []*Tree{of("go:worker", "samples"), of(RootName, "seconds")} {
		if _, err := Merge(of(RootName, "samples"), other); err == nil {
			t.Errorf("a tree of %s in %s was merged with one of * in samples", other.Root(), other.Main().Unit)
		}
	}
}
