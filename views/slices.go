package views

import (
	"github.com/cpprof/cpprof/sampledata"
	"github.com/cpprof/cpprof/views/calltree"
)

const (
	// maxSamples is up to how many samples a slice has one. More
	// samples are divided into slices of equal numbers: more
	// slices would tell no more.
	maxSamples   = 4096
	slicesOfMore = 1024

	// maxSpells limits what is kept of a view's slices, to about
	// 30 MB while it is made.
	maxSpells = 500_000
)

// slicedHistorian returns a historian with the slices of a view
// of this many samples.
func slicedHistorian(r *sampledata.Recording, samples int32) *historian {
	h := newHistorian(r, maxSpells)
	if samples > maxSamples {
		h.moments.Each = (samples + slicesOfMore - 1) / slicesOfMore
	}
	return h
}

// slices returns in which slices of the samples [from, to) the
// stacks of the tree got their hits.
func (b *builder) slices(from, to int32, nodes int) *calltree.Slices {
	h := b.history
	h.finish()
	m := &h.moments
	first, end := from/m.Each, (to+m.Each-1)/m.Each
	lengths := make([]float64, max(0, end-first))
	for i := range lengths {
		a, z := m.Span(first+int32(i), first+int32(i)+1)
		lengths[i] = float64(m.weights.Of(int(max(a, from)), int(min(z, to))))
	}
	each := func(kind PortionKind, add func(node int32, s calltree.Spell)) {
		for p, portion := range h.portions {
			if portion.Kind != kind {
				continue
			}
			spells, sums := m.Of(int32(p))
			for _, s := range spells {
				add(b.at[portion.Node],
					calltree.Spell{First: s.First - first, Last: s.Last - first,
						Hits: float64(s.Num) / float64(portion.Parts)})
			}
			for _, s := range sums {
				at := s.Slice - first
				hits := (float64(s.Weight.Hi)*(1<<wideBits) +
					float64(s.Weight.Lo)) / lengths[at] / float64(portion.Parts)
				add(b.at[portion.Node], calltree.Spell{First: at, Last: at, Hits: hits})
			}
		}
	}
	s := calltree.NewSlices(int(m.Each), lengths, nodes,
		func(add func(int32, calltree.Spell)) { each(Ending, add) })
	if b.server {
		whole := calltree.NewSlices(int(m.Each), lengths, 1,
			func(add func(int32, calltree.Spell)) { each(Whole, add) })
		s.Whole = whole.Whole
	}
	return s
}
