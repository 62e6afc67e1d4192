package views

import (
	"cmp"
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/synthetic"
	"pgregory.net/rapid"
)

// However many lengths of slices a limit leaves out, the moments are those of slices that were doubled one by one.
func TestMomentsAreLimited(t *testing.T) {
	r := synthetic.Recording(500, 5, 0.1)
	skipped := false
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 100).Draw(t, "most")
		limited, doubled := newMoments(r, most), newMoments(r, 1000)
		for range rapid.IntRange(0, 200).Draw(t, "spells") {
			portion, from := rapid.Int32Range(0, 3).Draw(t, "portion"), rapid.Int32Range(0, 499).Draw(t, "from")
			to := rapid.Int32Range(from+1, min(500, from+rapid.SampledFrom([]int32{1, 10, 500}).Draw(t, "length"))).Draw(t, "to")
			limited.add(portion, from, to, 3)
			doubled.add(portion, from, to, 3)
		}
		first := limited.Each
		limited.limit(most)
		for doubled.Len() > most && doubled.Slices() > 1 {
			doubled.Coarsen()
		}
		skipped = skipped || limited.Each > 2*first
		if limited.Each != doubled.Each || !slices.Equal(limited.Sums, doubled.Sums) || !slices.Equal(ordered(limited.Spells), ordered(doubled.Spells)) {
			t.Fatalf("slices of %d samples with %v and %v, want %d with %v and %v",
				limited.Each, limited.Spells, limited.Sums, doubled.Each, doubled.Spells, doubled.Sums)
		}
	})
	if !skipped {
		t.Error("slices were never doubled twice")
	}
}

func ordered(spells []Spell) []Spell {
	return slices.SortedFunc(slices.Values(spells), func(a, b Spell) int {
		return cmp.Or(cmp.Compare(a.Portion, b.Portion), cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last))
	})
}

// A list that gets long is not copied again and again, and one that got short gives its memory back.
func TestRoom(t *testing.T) {
	list := make([]int, 30)
	list = grown(list[:30:30], 100)
	if cap(list) < 100 || len(list) != 30 {
		t.Errorf("room for %d of 100", cap(list))
	}
	if short := grown(make([]int, 10), 100); cap(short) != 10 {
		t.Errorf("a short list has room for %d", cap(short))
	}
	if got := trimmed(list[:10]); cap(got) >= 50 || len(got) != 10 {
		t.Errorf("10 elements have room for %d", cap(got))
	}
}
