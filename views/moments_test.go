package views

import (
	"slices"
	"testing"

	"github.com/cpprof/cpprof/internal/synthetic"
	"pgregory.net/rapid"
)

// However many lengths of slices a limit leaves out, the moments
// are those of slices that were doubled one by one.
func TestMomentsAreLimited(t *testing.T) {
	r := synthetic.Recording(500, 5, 0.1)
	skipped := false
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 100).Draw(t, "most")
		limited, doubled := newMoments(r), newMoments(r)
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
		spells, sums := limited.all()
		wantSpells, wantSums := doubled.all()
		if limited.Each != doubled.Each || !slices.Equal(sums, wantSums) || !slices.Equal(spells, wantSpells) {
			t.Fatalf("slices of %d samples with %v and %v, want %d with %v and %v", limited.Each, spells, sums, doubled.Each, wantSpells, wantSums)
		}
	})
	if !skipped {
		t.Error("slices were never doubled twice")
	}
}

// all returns all spells and sums, in order of their portions.
func (m *Moments) all() (spells []Spell, sums []Sum) {
	for p := range int32(len(m.lists)) {
		sp, su := m.Of(p)
		spells, sums = append(spells, sp...), append(sums, su...)
	}
	return spells, sums
}

// Moments that become fewer leave their memory to those that are
// added later.
func TestMomentsReuseMemory(t *testing.T) {
	r := synthetic.Recording(500, 5, 0.1)
	m := newMoments(r)
	for range 20 {
		for at := range int32(400) {
			m.add(at%3, at, at+2, 1)
		}
		m.limit(300)
		if m.Len() > 300 || int(m.pool.used) > 300+2*400 {
			t.Fatalf("%d moments in memory for %d", m.Len(), m.pool.used)
		}
	}
}
